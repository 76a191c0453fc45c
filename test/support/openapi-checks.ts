/** Reads the API document as its clients do: operations, their examples, and checks of values against its schemas. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { XMLParser } from "fast-xml-parser";

export interface MediaType {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly schema: object;
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ApiResponse | { readonly $ref: string }>>;
}

type PathItem = Readonly<Record<"get" | "post", Operation | undefined>>;

export interface ApiDocument {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly responses: Readonly<Record<string, ApiResponse>>;
  };
}

export interface Listed {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly operation: Operation;
}

/** Every operation of the document. */
export function operationsOf(document: ApiDocument): Listed[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (["get", "post"] as const).flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method: method === "get" ? "GET" : "POST", path, operation }];
    }),
  );
}

/** The response of a status, looked up where it is referred to. */
export function responseOf(
  document: ApiDocument,
  operation: Operation,
  status: number | string,
): ApiResponse {
  const response = operation.responses[status];
  if (response === undefined) throw new Error(`${operation.operationId} documents no ${status}`);
  if (!("$ref" in response)) return response;
  const found = document.components.responses[response.$ref.split("/").at(-1) ?? ""];
  if (found === undefined) throw new Error(`${response.$ref} is not in the document`);
  return found;
}

/** The only media type of a response, undefined when it has no content. */
export function mediaOf({ content = {} }: ApiResponse): (MediaType & { readonly type: string }) | undefined {
  const [entry] = Object.entries(content);
  return entry === undefined ? undefined : { type: entry[0], ...entry[1] };
}

/** Makes a check that gives the faults of a value against a schema of the document. */
export function createSchemaCheck(document: ApiDocument): (schema: object, value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "document", components: document.components });
  return (schema, value) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')));
    check(value);
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}

const parser = new XMLParser({
  ignoreAttributes: false,
  ignoreDeclaration: true,
  attributeNamePrefix: "",
  parseAttributeValue: true,
  isArray: (name) => name === "Error",
});

/** A body as the schema of its media type means it: JSON parsed, XML as an object, everything else as text. */
export function readBodyValue(type: string, body: string): unknown {
  if (type.startsWith("application/json")) return JSON.parse(body);
  if (!type.startsWith("application/xml")) return body;
  const [root] = Object.values(parser.parse(body) as Readonly<Record<string, unknown>>);
  return root;
}
