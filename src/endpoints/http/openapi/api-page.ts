/**
 * The page that shows the API document and tries operations out: a frame of our own around swagger-ui-dist, whose files
 * are served from where they were installed. Nothing on it comes from, or goes to, another address.
 */
import { stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Answer } from "../server/answer.ts";

const require = createRequire(import.meta.url);

/** Resolved when it is requested: without the package there is no page, but everything else. */
function installedPackage(): { readonly folder: string; readonly version: string } {
  const manifestFile = require.resolve("swagger-ui-dist/package.json");
  const { version } = require(manifestFile) as { readonly version: string };
  return { folder: dirname(manifestFile), version };
}

/** Only what comes from this server is run, shown and called; the pictures are in the style sheet itself. */
const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Revalidated each time; a file that has not changed is not sent again. */
const cacheControl = "no-cache";

/**
 * The validator of swagger.io is switched off: it would be given the address of this server. What is typed in stays in
 * the memory of the page.
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

function pageText(basePath: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dropgate API</title>
<link rel="icon" href="${basePath}/docs/favicon.png">
<link rel="stylesheet" href="${basePath}/docs/swagger-ui.css">
</head>
<body>
<div id="api" data-document="${basePath}/openapi.json"></div>
<script src="${basePath}/docs/swagger-ui-bundle.js"></script>
<script src="${basePath}/docs/start.js"></script>
</body>
</html>
`;
}

/** The page itself. `basePath` is that of the configuration; it is a plain path, which HTML takes as it is. */
export function apiPageAnswer(basePath: string): Answer {
  return {
    status: 200,
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": cacheControl,
      "content-security-policy": securityPolicy,
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    },
    body: pageText(basePath),
  };
}

const scriptType = "text/javascript; charset=utf-8";

/** The script that starts the page. */
export const startScriptAnswer: Answer = {
  status: 200,
  contentType: scriptType,
  headers: { "cache-control": cacheControl },
  body: startScript,
};

export interface ApiPageFile {
  /** The name of its route. */
  readonly route: string;
  /** The last part of its path. */
  readonly name: string;
  /** Its name in the package. */
  readonly source: string;
  readonly contentType: string;
}

/** The only files that are served of the package. */
export const apiPageFiles: readonly ApiPageFile[] = [
  {
    route: "apiPageBundle",
    name: "swagger-ui-bundle.js",
    source: "swagger-ui-bundle.js",
    contentType: scriptType,
  },
  {
    route: "apiPageStyles",
    name: "swagger-ui.css",
    source: "swagger-ui.css",
    contentType: "text/css; charset=utf-8",
  },
  { route: "apiPageIcon", name: "favicon.png", source: "favicon-32x32.png", contentType: "image/png" },
];

/** A file of the page. Rejects when the package is not complete. */
export async function apiPageFileAnswer({ source, contentType }: ApiPageFile): Promise<Answer> {
  const { folder, version } = installedPackage();
  const path = join(folder, source);
  const { size } = await stat(path);
  return {
    status: 200,
    contentType,
    headers: { "cache-control": cacheControl },
    // The package is of one exact version, so version and name are the content.
    body: { path, size, etag: `"${version}-${source}"` },
  };
}
