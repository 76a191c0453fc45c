/** One operation in the API document. */
import { type TSchema, Type } from "@sinclair/typebox";
import { identifier } from "../../src/domain/fields/fields.ts";
import type {
  ApiAnswer,
  ApiDescription,
  Operation,
} from "../../src/endpoints/http/openapi/api-description.ts";
import { jsonType } from "../../src/endpoints/http/server/answer.ts";
import { type DocumentParts, headerReferences, refusalResponses } from "./openapi-responses.ts";
import type { Json } from "./openapi-wire-forms.ts";
import type { OperationRoute } from "../../src/endpoints/http/server/route.ts";

interface PathPart {
  readonly description: string;
  readonly schema: Json;
  readonly example: string;
}

function numberPart(field: string, description: string, example: string): PathPart {
  return { description, schema: identifier(field), example };
}

const guid = { type: "string", minLength: 1 };

/** The variable parts of paths by their names. */
const pathParts: Readonly<Record<string, PathPart>> = {
  companyCode: numberPart("companyCode", "The code of the company, in any case.", "DEMO"),
  loadNbr: numberPart("loadNbr", "Number of the load, matched exactly.", "L-1001"),
  stopNbr: numberPart("stopNbr", "Number of the stop, matched exactly.", "1001"),
  orderNbr: numberPart("orderNbr", "Number of the order, matched exactly.", "4001"),
  accountNumber: numberPart("accountNumber", "Number of the customer, matched exactly.", "C-100"),
  serviceName: {
    description:
      "`default`, or the name of a custom integration, which takes a body of a form of its own, JSON or XML.",
    schema: Type.String({ minLength: 1 }),
    example: "default",
  },
  importId: {
    description: "What the import was answered with.",
    schema: guid,
    example: "0b9f1d0e-6f2c-4f5e-9a57-0c8b2a7d4e11",
  },
  guid: {
    description: "The `reference` of a document object.",
    schema: guid,
    example: "7f8c2a50-9f5e-4a57-8f1d-6b1f3c2f9a10",
  },
};

function pathParameters(route: OperationRoute): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...(pathParts[name] ?? { schema: { type: "string" } }),
  }));
}

function queryParameters({ parameters = [] }: ApiDescription, parts: DocumentParts): Json[] {
  return parameters.map(({ schema, ...parameter }) => ({
    ...parameter,
    in: "query",
    schema: parts.schemas.schemaOf(schema),
  }));
}

function mediaOf(
  { schema, example }: Pick<ApiAnswer, "example"> & { readonly schema: TSchema },
  parts: DocumentParts,
): Json {
  return { schema: parts.schemas.schemaOf(schema), ...(example === undefined ? {} : { example }) };
}

function requestBody(route: OperationRoute, request: ApiDescription["request"], parts: DocumentParts): Json {
  const media = mediaOf(request ?? { schema: Type.Unknown() }, parts);
  return {
    required: route.isBodyOptional !== true,
    content: Object.fromEntries(route.media.map((type) => [type, media])),
  };
}

function answerHeaders(headers: Readonly<Record<string, string>>): Json {
  const own = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: "string" } },
  ]);
  return { ...headerReferences("X-Request-Id"), ...Object.fromEntries(own) };
}

function answerResponse(answer: ApiAnswer, parts: DocumentParts): Json {
  const { description, contentType = jsonType, schema, example, headers = {} } = answer;
  const head = { description, headers: answerHeaders(headers) };
  if (schema === undefined) return head;
  return { ...head, content: { [contentType]: mediaOf({ schema, example }, parts) } };
}

function responses(operation: Operation, parts: DocumentParts): Json {
  const { answer, otherAnswers, errors } = operation;
  const answers = { 200: answer, ...otherAnswers };
  const own = Object.entries(answers).map(([status, answer]) => [status, answerResponse(answer, parts)]);
  return { ...refusalResponses(operation, errors, parts), ...Object.fromEntries(own) };
}

function textOf({ access, description }: Operation): string {
  if (access === "public") return `${description}\n\nNo sign-in.`;
  const roles = access.map((role) => `\`${role}\``).join(" or ");
  return `${description}\n\nRole in the company: ${roles}.`;
}

/** The operation as the document shows it. */
export function documentedOperation(operation: Operation, parts: DocumentParts): Json {
  const { name, summary, tag, access, body, request } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation, parts)];
  return {
    operationId: name,
    summary,
    description: textOf(operation),
    tags: [tag],
    security: access === "public" ? [] : [{ basic: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === "none" ? {} : { requestBody: requestBody(operation, request, parts) }),
    responses: responses(operation, parts),
  };
}
