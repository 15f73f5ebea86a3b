import type { Router } from "express";

import { listDocuments } from "./list";
import type { DocumentRepository, UserRepository } from "./repository";

export function documentRoutes(router: Router, documents: DocumentRepository, users: UserRepository): Router {
  router.get("/workspaces/:id/documents", async (request, response, next) => {
    try {
      const page = Number(request.query.page ?? 1);
      response.json(await listDocuments(documents, users, Number(request.params.id), page));
    } catch (error) {
      next(error);
    }
  });
  return router;
}
