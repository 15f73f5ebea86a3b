import type { Router } from "express";

import { recentDocuments } from "./list";
import type { DocumentRepository } from "./repository";

export function documentRoutes(router: Router, documents: DocumentRepository): Router {
  router.get("/workspaces/:id/documents", async (request, response, next) => {
    try {
      response.json({ rows: await recentDocuments(documents, Number(request.params.id)) });
    } catch (error) {
      next(error);
    }
  });
  return router;
}
