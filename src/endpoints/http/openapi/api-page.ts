/**
 * Routes of the API document, and of the page that shows it and tries operations out: a frame of our own around
 * swagger-ui-dist, whose files are served from where they were installed. Nothing on the page comes from, or goes to,
 * another address.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Answer, htmlType, jsonAnswer } from "../server/answer.ts";
import { assetPath } from "../console/assets/assets.ts";
import { words } from "../console/words/words.ts";
import { pagePolicy } from "../server/page-policy.ts";
import { openRead, type PublicRoute, type Route } from "../server/route.ts";
import { jsonAnswerOf, type PublicOperation, textAnswerOf } from "./api-description.ts";

const require = createRequire(import.meta.url);

/** Resolved at each request: without the package only the page is missing. */
function installedPackage(): { readonly folder: string; readonly version: string } {
  const manifestFile = require.resolve("swagger-ui-dist/package.json");
  const { version } = require(manifestFile) as { readonly version: string };
  return { folder: dirname(manifestFile), version };
}

/** Revalidated each time; a file that has not changed is not sent again. */
const revalidated = { "cache-control": "no-cache" };

/**
 * The validator of swagger.io is off, because it would learn the address of this server. Credentials stay in the memory
 * of the page.
 */
const startScript = `"use strict";
const place = document.getElementById("api");
SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
});
`;

/** `basePath` is that of the configuration, a plain path that HTML takes as it is. */
function pageText(basePath: string): string {
  return `<!doctype html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${words.docs.title} · dropgate</title>
<link rel="icon" href="${basePath}/docs/favicon.png">
<link rel="stylesheet" href="${basePath}/docs/swagger-ui.css">
<link rel="stylesheet" href="${assetPath(basePath, "docs.css")}">
<script src="${assetPath(basePath, "theme.js")}"></script>
<script src="${assetPath(basePath, "docs.js")}"></script>
</head>
<body>
<a class="skip" href="#api">${words.frame.skip}</a>
<header class="top"><a class="brand" href="${basePath}/console">dropgate</a></header>
<div id="api" tabindex="-1" data-document="${basePath}/openapi.json"
 data-server-label="${words.docs.server}" data-body-label="${words.docs.body}" data-choice-label="${words.docs.choice}"></div>
<script src="${basePath}/docs/swagger-ui-bundle.js"></script>
<script src="${basePath}/docs/start.js"></script>
</body>
</html>
`;
}

const scriptType = "text/javascript; charset=utf-8";

const apiPage: PublicOperation = {
  ...openRead,
  name: "apiPage",
  summary: "Page to read and try the API",
  path: "/docs",
  tag: "Service",
  description: "The page that shows this document and tries operations out.",
  answer: textAnswerOf("The page.", htmlType, "<!doctype html>"),
  errors: [],
  run: async ({ options }) => ({
    status: 200,
    contentType: htmlType,
    headers: {
      ...revalidated,
      // The pictures are in the style sheet itself.
      "content-security-policy": pagePolicy({ formsTo: "'none'" }),
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    },
    body: pageText(options().basePath),
  }),
};

const startPage: PublicRoute = {
  ...openRead,
  name: "apiPageStart",
  summary: "Script of the page",
  path: "/docs/start.js",
  run: async () => ({ status: 200, contentType: scriptType, headers: revalidated, body: startScript }),
};

/** The route of a file of the package; it fails when the package is not complete. */
function fileRoute(route: string, source: string, contentType: string, name = source): PublicRoute {
  return {
    ...openRead,
    name: route,
    summary: "File of the page",
    path: `/docs/${name}`,
    async run() {
      const { folder, version } = installedPackage();
      const path = join(folder, source);
      const { size } = await stat(path);
      // The package is of one exact version, so version and name identify the content.
      const body = { path, size, etag: `"${version}-${source}"` };
      return { status: 200, contentType, headers: revalidated, body };
    },
  };
}

/** The files of the page: no operations, and not in the document. No other file of the package is served. */
export const pageFiles: readonly Route[] = [
  startPage,
  fileRoute("apiPageBundle", "swagger-ui-bundle.js", scriptType),
  fileRoute("apiPageStyles", "swagger-ui.css", "text/css; charset=utf-8"),
  fileRoute("apiPageIcon", "favicon-32x32.png", "image/png", "favicon.png"),
];

/** Made of the records of all operations (`tools/generators/openapi-document.ts`), for a service without a base path. */
const documentFile = new URL("../../../../config/openapi.json", import.meta.url);

interface ApiDocument {
  readonly paths: Readonly<Record<string, object>>;
}

/** The document of a service below a base path. */
export function documentBelow(document: ApiDocument, basePath: string): ApiDocument {
  if (basePath === "") return document;
  // Operations without a version answer below the base path as well, but their clients do not use that.
  const servers = [{ url: "/" }, { url: basePath }];
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    /^\/v\d\//.test(path) ? item : { servers, ...item },
  ]);
  return { ...document, ...{ servers: [{ url: basePath }] }, paths: Object.fromEntries(paths) };
}

async function documentAnswer(basePath: string): Promise<Answer> {
  const document = JSON.parse(await readFile(documentFile, "utf8")) as ApiDocument;
  const text = JSON.stringify(documentBelow(document, basePath));
  const etag = `"${createHash("sha256").update(text).digest("hex")}"`;
  return jsonAnswer(text, { etag, ...revalidated });
}

/** The first request makes it. */
let made: { readonly basePath: string; readonly answer: Answer } | undefined;

const openApiDocument: PublicOperation = {
  ...openRead,
  name: "openApiDocument",
  summary: "OpenAPI 3.1 document",
  path: "/openapi.json",
  tag: "Service",
  description: "This document.",
  answer: jsonAnswerOf("OpenAPI 3.1.", Type.Object({ openapi: Type.String() }), { openapi: "3.1.0" }),
  errors: [],
  async run({ options }) {
    const { basePath } = options();
    if (made?.basePath !== basePath) made = { basePath, answer: await documentAnswer(basePath) };
    return made.answer;
  },
};

export const apiOperations: readonly PublicOperation[] = [openApiDocument, apiPage];
