/** The refusals that an operation can answer with: one response for each HTTP status, with its reasons and their meanings. */
import { type ErrorCode, errorCatalogue, httpStatusOf } from "../../src/lib/errors.ts";
import { jsonType, reasonsDocument, textType, xmlType } from "../../src/endpoints/http/server/answer.ts";
import { Reasons } from "../../src/endpoints/http/openapi/api-schemas.ts";
import { StopResponse } from "../../src/endpoints/http/openapi/api-service-schemas.ts";
import type { SchemaCollector } from "./openapi-components.ts";
import type { Json } from "./openapi-wire-forms.ts";
import type { OperationRoute } from "../../src/endpoints/http/server/route.ts";

/** The parts of the document that it defines once and refers to. */
export interface DocumentParts {
  readonly schemas: SchemaCollector;
  /** Responses by the names of their components. */
  readonly refusals: Map<string, Json>;
}

interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  /** Shown instead of the catalogue's meaning, where HTTP uses a code for something of its own. */
  readonly meaning?: string;
}

function refusalsOf(...codes: readonly ErrorCode[]): readonly Refusal[] {
  return codes.map((code) => ({ status: httpStatusOf(code), code }));
}

const plainHttp: Refusal = {
  status: 403,
  code: "badCredentials",
  meaning: "user and password came over plain HTTP from another machine",
};

const lateBody: Refusal = { status: 408, code: "notJson", meaning: "the body did not arrive in time" };

const signedIn = [
  ...refusalsOf("wrongType", "badCredentials", "roleMissing", "tooManyAttempts"),
  ...refusalsOf("internal", "overloaded"),
  plainHttp,
];

/** The refusals that routes of each kind have in common. */
function commonRefusals(route: OperationRoute): readonly Refusal[] {
  if (route.access === "public") return refusalsOf("wrongType", "internal");
  return [
    ...signedIn,
    ...(route.query === "none" ? refusalsOf("unknownFilter") : []),
    ...(route.body === "none" ? [] : [lateBody, ...refusalsOf("tooLarge", "mediaType")]),
    ...(route.body === "json" ? refusalsOf("notJson") : []),
  ];
}

function meaningOf({ code, meaning }: Refusal): string {
  return meaning ?? errorCatalogue[code].meaning;
}

function stopResponseExample({ code }: Refusal, meaning: string): string {
  const { reasonCode } = errorCatalogue[code];
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<StopResponse><DocumentID>UNKNOWN</DocumentID><Status>99</Status>' +
    `<Errors><Error ErrorMsgID="${reasonCode}">${meaning}</Error></Errors><Result><RecordsCreated>0</RecordsCreated>` +
    "<RecordsUpdated>0</RecordsUpdated><RecordsDeleted>0</RecordsDeleted></Result></StopResponse>"
  );
}

function examplesOf(
  refusals: readonly Refusal[],
  exampleOf: (one: Refusal, meaning: string) => unknown,
): Json {
  const entries = refusals.map((one) => {
    const summary = meaningOf(one);
    return [String(errorCatalogue[one.code].reasonCode), { summary, value: exampleOf(one, summary) }];
  });
  return Object.fromEntries(entries);
}

function contentOf(route: OperationRoute, refusals: readonly Refusal[], collector: SchemaCollector): Json {
  if (route.errorShape === "text") return { [textType]: { schema: { type: "string" } } };
  if (route.errorShape === "stopResponse") {
    const examples = examplesOf(refusals, stopResponseExample);
    return { [xmlType]: { schema: collector.schemaOf(StopResponse), examples } };
  }
  const examples = examplesOf(refusals, ({ code }, message) =>
    JSON.parse(reasonsDocument([{ code, message }])),
  );
  return { [jsonType]: { schema: collector.schemaOf(Reasons), examples } };
}

/** Headers that belong to a status; each is a component. */
const headersOfStatus: Readonly<Record<number, string>> = {
  401: "WWW-Authenticate",
  429: "Retry-After",
  503: "Retry-After",
};

/** The headers that refusals and answers refer to. */
export const headerComponents: Json = {
  "X-Request-Id": {
    description: "Names the request; the operator finds it in the log as `requestId`.",
    schema: { type: "string" },
  },
  "WWW-Authenticate": { description: "The challenge of HTTP Basic.", schema: { type: "string" } },
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    schema: { type: "integer", minimum: 1 },
  },
};

/** References to header components by their names. */
export function headerReferences(...names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const shapeNames: Readonly<Record<OperationRoute["errorShape"], string>> = {
  reasons: "Refused",
  stopResponse: "RefusedXml",
  text: "RefusedText",
};

function responseOf(
  route: OperationRoute,
  { status, refusals }: { readonly status: number; readonly refusals: readonly Refusal[] },
  parts: DocumentParts,
): Json {
  // Status, shape and reasons are all that a refusal depends on, so they name it.
  const reasonCodes = refusals.map(({ code }) => errorCatalogue[code].reasonCode);
  const name = [shapeNames[route.errorShape], status, ...reasonCodes].join("-");
  if (!parts.refusals.has(name)) {
    const own = headersOfStatus[status];
    const lines = refusals.map((one) => `\`${errorCatalogue[one.code].reasonCode}\` ${meaningOf(one)}`);
    parts.refusals.set(name, {
      description: lines.join("; "),
      headers: headerReferences("X-Request-Id", ...(own === undefined ? [] : [own])),
      content: contentOf(route, refusals, parts.schemas),
    });
  }
  return { $ref: `#/components/responses/${name}` };
}

function sorted(refusals: Iterable<Refusal>): readonly Refusal[] {
  const reasonOf = ({ code }: Refusal) => errorCatalogue[code].reasonCode;
  return [...refusals].sort((one, other) => reasonOf(one) - reasonOf(other));
}

/** Responses of refusals by status. `own` are those that the operation has besides the ones of its kind. */
export function refusalResponses(
  route: OperationRoute,
  own: readonly ErrorCode[],
  parts: DocumentParts,
): Readonly<Record<string, Json>> {
  const byStatus = new Map<number, Map<ErrorCode, Refusal>>();
  for (const refusal of [...commonRefusals(route), ...refusalsOf(...own)]) {
    const known = byStatus.get(refusal.status) ?? new Map<ErrorCode, Refusal>();
    if (!known.has(refusal.code)) known.set(refusal.code, refusal);
    byStatus.set(refusal.status, known);
  }
  const entries = [...byStatus].map(([status, refusals]) => [
    String(status),
    responseOf(route, { status, refusals: sorted(refusals.values()) }, parts),
  ]);
  return Object.fromEntries(entries);
}
