/** Routes of the API document and of the page that shows it. */
import { createHash } from "node:crypto";
import { type Answer, jsonAnswer } from "../server/answer.ts";
import {
  type ApiPageFile,
  apiPageAnswer,
  apiPageFileAnswer,
  apiPageFiles,
  startScriptAnswer,
} from "./api-page.ts";
import { createOpenApiDocument } from "./openapi-document.ts";
import type { PublicRoute, Route } from "../server/route.ts";
import { openRead } from "../gateway/route-helpers.ts";

function documentAnswer(routes: readonly Route[], basePath: string): Answer {
  const text = JSON.stringify(createOpenApiDocument(routes, basePath));
  const etag = `"${createHash("sha256").update(text).digest("hex")}"`;
  return jsonAnswer(text, { etag, "cache-control": "no-cache" });
}

const apiPage: PublicRoute = {
  ...openRead,
  name: "apiPage",
  summary: "Page to read and try the API",
  path: "/docs",
  async run({ options }) {
    return apiPageAnswer(options().basePath);
  },
};

const startScript: PublicRoute = {
  ...openRead,
  name: "apiPageStart",
  summary: "Script of the page",
  path: "/docs/start.js",
  async run() {
    return startScriptAnswer;
  },
};

function fileRoute(file: ApiPageFile): PublicRoute {
  return {
    ...openRead,
    name: file.route,
    summary: "File of the page",
    path: `/docs/${file.name}`,
    run: () => apiPageFileAnswer(file),
  };
}

/** The files of the page: no operations, and not in the document. */
const pageFiles: readonly Route[] = [startScript, ...apiPageFiles.map(fileRoute)];

/**
 * The routes of the document, its page and the files of the page. `operations` are all other routes: the document lists
 * them, itself and the page. It is made when it is first asked for.
 */
export function createApiRoutes(operations: readonly Route[]): readonly Route[] {
  let made: { readonly basePath: string; readonly answer: Answer } | undefined;
  const openApiDocument: PublicRoute = {
    ...openRead,
    name: "openApiDocument",
    summary: "OpenAPI 3.1 document",
    path: "/openapi.json",
    async run({ options }) {
      const { basePath } = options();
      if (made?.basePath !== basePath) {
        const answer = documentAnswer([...operations, openApiDocument, apiPage], basePath);
        made = { basePath, answer };
      }
      return made.answer;
    },
  };
  return [openApiDocument, apiPage, ...pageFiles];
}
