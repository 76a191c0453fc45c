/**
 * The OpenAPI 3.1 document (specification/gateway.md#operations), made from the records of operations and the
 * definitions that bodies are checked with.
 */
import { apiTags, type Operation } from "../../src/endpoints/http/openapi/api-description.ts";
import { SchemaCollector } from "./openapi-components.ts";
import { namedSchemas } from "./openapi-names.ts";
import { documentedOperation } from "./openapi-operation.ts";
import { type DocumentParts, headerComponents } from "./openapi-responses.ts";
import type { Json } from "./openapi-wire-forms.ts";
import type { OperationRoute } from "../../src/endpoints/http/server/route.ts";

/** The version of the interface specification that the operations follow. */
const interfaceVersion = "6.1.1";

const about = `Sends loads, stops, ASNs, orders, customers, business partners and users to dropgate, and reads back what became of them.

- Sign-in is HTTP Basic. The user needs a role in the company that the path names.
- Operations with a version answer under \`/v5\` and \`/v6\` alike; each is listed under its documented one.
- A refusal is \`{"Reasons":[{"description":"…","reasonCode":921}]}\`. Only reasons 933, 998 and 999 are worth the same request again.
- Fields that the schemas do not name are kept and given back, unless \`http.unknownFields: refuse\` is set.
- Every answer has an \`X-Request-Id\`.`;

/** The path of a route in the document: below its documented version, or at the root. */
export function documentedPath({ path, version }: OperationRoute): string {
  return version === "none" ? path : `/${version}${path}`;
}

function pathsOf(operations: readonly Operation[], parts: DocumentParts): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = documentedPath(operation);
    const method = operation.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: documentedOperation(operation, parts) };
  }
  return paths;
}

/** The document as an object, for a service without a base path. */
export function createOpenApiDocument(operations: readonly Operation[]): Json {
  const parts: DocumentParts = { schemas: new SchemaCollector(namedSchemas), refusals: new Map() };
  const paths = pathsOf(operations, parts);
  const used = new Set<string>(operations.map(({ tag }) => tag));
  return {
    openapi: "3.1.0",
    info: { title: "dropgate", version: interfaceVersion, description: about },
    servers: [{ url: "/" }],
    tags: Object.entries(apiTags)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: parts.schemas.components(),
      responses: Object.fromEntries(parts.refusals),
      headers: headerComponents,
      securitySchemes: { basic: { type: "http", scheme: "basic" } },
    },
  };
}
