import type { Document, DocumentRepository } from "./repository";

export interface DocumentRow {
  id: number;
  title: string;
  updatedAt: string;
}

const RECENT = 20;

function toRow(document: Document): DocumentRow {
  return { id: document.id, title: document.title, updatedAt: document.updatedAt.toISOString() };
}

export async function recentDocuments(documents: DocumentRepository, workspaceId: number): Promise<DocumentRow[]> {
  const found = await documents.slice(workspaceId, 0, RECENT);
  return found.map(toRow);
}
