/** Routes of the API document and of the page that shows it. */
import { Type } from "@sinclair/typebox";
import { createHash } from "node:crypto";
import { type Answer, jsonAnswer } from "../server/answer.ts";
import { openRead, type PublicRoute, type Route } from "../server/route.ts";
import { jsonAnswerOf, type Operation, type PublicOperation, textAnswerOf } from "./api-description.ts";
import {
  type ApiPageFile,
  apiPageAnswer,
  apiPageFileAnswer,
  apiPageFiles,
  startScriptAnswer,
} from "./api-page.ts";
import { createOpenApiDocument } from "./openapi-document.ts";

function documentAnswer(operations: readonly Operation[], basePath: string): Answer {
  const text = JSON.stringify(createOpenApiDocument(operations, basePath));
  const etag = `"${createHash("sha256").update(text).digest("hex")}"`;
  return jsonAnswer(text, { etag, "cache-control": "no-cache" });
}

const apiPage: PublicOperation = {
  ...openRead,
  name: "apiPage",
  summary: "Page to read and try the API",
  path: "/docs",
  api: {
    tag: "Service",
    description: "The page that shows this document and tries operations out.",
    answer: textAnswerOf("The page.", "text/html; charset=utf-8", "<!doctype html>"),
    errors: [],
  },
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
export const pageFiles: readonly Route[] = [startScript, ...apiPageFiles.map(fileRoute)];

/**
 * The document and its page. `operations` are all others: the document lists them, itself and the page. It is made when it
 * is first asked for.
 */
export function createApiOperations(operations: readonly Operation[]): readonly PublicOperation[] {
  let made: { readonly basePath: string; readonly answer: Answer } | undefined;
  const openApiDocument: PublicOperation = {
    ...openRead,
    name: "openApiDocument",
    summary: "OpenAPI 3.1 document",
    path: "/openapi.json",
    api: {
      tag: "Service",
      description: "This document.",
      answer: jsonAnswerOf("OpenAPI 3.1.", Type.Object({ openapi: Type.String() }), { openapi: "3.1.0" }),
      errors: [],
    },
    async run({ options }) {
      const { basePath } = options();
      if (made?.basePath !== basePath) {
        const answer = documentAnswer([...operations, openApiDocument, apiPage], basePath);
        made = { basePath, answer };
      }
      return made.answer;
    },
  };
  return [openApiDocument, apiPage];
}
