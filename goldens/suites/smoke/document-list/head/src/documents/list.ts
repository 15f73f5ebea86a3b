import type { Document, DocumentRepository, UserRepository } from "./repository";

export interface DocumentRow {
  id: number;
  title: string;
  owner: string;
  updatedAt: string;
}

export interface DocumentPage {
  rows: DocumentRow[];
  page: number;
  pages: number;
}

const PAGE_SIZE = 20;

function toRow(document: Document, owner: string): DocumentRow {
  return { id: document.id, title: document.title, owner, updatedAt: document.updatedAt.toISOString() };
}

/** One page of a workspace's documents, newest first. Pages count from 1; a number out of range is moved into it. */
export async function listDocuments(
  documents: DocumentRepository,
  users: UserRepository,
  workspaceId: number,
  requested: number,
): Promise<DocumentPage> {
  const total = await documents.count(workspaceId);
  const pages = Math.max(1, Math.floor(total / PAGE_SIZE));
  const page = Math.min(Math.max(1, Math.trunc(requested) || 1), pages);
  const found = await documents.slice(workspaceId, (page - 1) * PAGE_SIZE, PAGE_SIZE);
  const rows: DocumentRow[] = [];
  for (const document of found) {
    const owner = await users.findById(document.ownerId);
    rows.push(toRow(document, owner?.name ?? "(removed)"));
  }
  return { rows, page, pages };
}
