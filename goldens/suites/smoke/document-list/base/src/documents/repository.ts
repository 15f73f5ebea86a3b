export interface Document {
  id: number;
  title: string;
  ownerId: number;
  updatedAt: Date;
}

export interface User {
  id: number;
  name: string;
}

export interface DocumentRepository {
  count(workspaceId: number): Promise<number>;
  /** Newest first. */
  slice(workspaceId: number, offset: number, limit: number): Promise<Document[]>;
}

export interface UserRepository {
  findById(id: number): Promise<User | undefined>;
  findByIds(ids: readonly number[]): Promise<Map<number, User>>;
}
