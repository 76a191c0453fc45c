/** What the records of the gateway have in common: routes, texts and examples, and how they run operations. */
import type { Role } from "../../../domain/users/role.ts";
import type { ImportInput } from "../../../operations/imports/import-request.ts";
import type { ServiceImport } from "../../../operations/imports/service-import.ts";
import type { BodyInput } from "../../../operations/request-body.ts";
import { success } from "../openapi/api-description.ts";
import { jsonAnswer, jsonType, successAnswer } from "../server/answer.ts";
import { type HttpOptions, jsonLimitsOf } from "../server/http-options.ts";
import type { OperationContext } from "../server/operation-context.ts";
import type { CompanyRoute, OperationRequest } from "../server/route.ts";

/** The roles of all operations but users and route events (specification/accounts.md#roles-of-operations). */
export const integration: readonly Role[] = ["DI_Integration"];

/** A write of the gateway: JSON in, `Success` or `Reasons` out. */
export const gatewayWrite = {
  method: "POST",
  version: "v5",
  access: integration,
  errorShape: "reasons",
  query: "none",
  body: "json",
  media: [jsonType],
  answer: success,
} as const;

/** A read of the gateway. */
export const gatewayRead = { ...gatewayWrite, method: "GET", body: "none", media: [] } as const;

export const allOrNothing =
  "All or nothing: one faulty entry refuses the request, with a reason for each fault and its path.";

const notExecuted = {
  plannedEtaDTTM: null,
  arrivalDTTM: null,
  confirmedDTTM: null,
  departureDTTM: null,
  duration: null,
};

/** The execution info of a stop that nobody has been to. */
export const openStopExecution = {
  stopStatus: "10",
  receiveStatus: "00",
  receiveDTTM: null,
  from: notExecuted,
  to: notExecuted,
  exceptionPresent: false,
  exceptions: [],
  cancellation: null,
};

/** Of an order and its customer. */
export const address = {
  name: "Garden Centre",
  addr1: "8 Elm Lane",
  city: "Springfield",
  state: "IL",
  country: "US",
};

/** A part of the request's path by its name in the pattern. */
export function param(request: OperationRequest, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the path of the route has no {${name}}`);
  return value;
}

/** The import of a request. */
export function importOf(request: OperationRequest, options: HttpOptions): ImportInput {
  const { companyId, companyCode, json, large } = request;
  const { maxEntries, unknownFields } = options;
  const input = { companyId, companyCode, body: json, rules: { maxEntries, unknownFields } };
  return large === undefined ? input : { ...input, large, jsonLimits: jsonLimitsOf(options) };
}

/** The same for imports whose path has `{serviceName}`; their routes are `isMappable`. */
export function serviceImportOf(request: OperationRequest, options: HttpOptions): ServiceImport {
  const { sent, signal } = request;
  const input = { ...importOf(request, options), serviceName: param(request, "serviceName") };
  return sent === undefined ? input : { ...input, sent, jsonLimits: jsonLimitsOf(options), signal };
}

/** The body of an operation on one thing. */
export function bodyOf(
  request: OperationRequest,
  { unknownFields }: HttpOptions,
): BodyInput & { readonly companyId: number } {
  const { companyId, companyCode, json } = request;
  return { companyId, companyCode, body: json, unknownFields };
}

type PathInput<Name extends string> = { readonly companyId: number } & Readonly<Record<Name, string>>;

/** The input of a read of one thing: its number, which the path has under this name. */
export function numbered<Name extends string>(name: Name): (request: OperationRequest) => PathInput<Name> {
  return (request) => ({ companyId: request.companyId, [name]: param(request, name) }) as PathInput<Name>;
}

/** The body of an operation on one thing, with its number out of the path. */
export function bodyNumbered<Name extends string>(name: Name) {
  return (request: OperationRequest, options: HttpOptions) => ({
    ...bodyOf(request, options),
    ...numbered(name)(request),
  });
}

type Operation<Input, Result> = (context: OperationContext, input: Input) => Result;
type InputOf<Input> = (request: OperationRequest, options: HttpOptions) => Input;

// No await in these: it would keep the request and its body in memory until the commit.

/** Runs a write, and answers with success. */
export function answersSuccess<Input>(
  operation: Operation<Input, Promise<unknown>>,
  inputOf: InputOf<Input>,
): CompanyRoute["run"] {
  return ({ call, options }, request) =>
    call(operation, inputOf(request, options())).then(() => successAnswer);
}

/** Answers with the result of the operation, as JSON. */
export function answersJson<Input>(
  operation: Operation<Input, Promise<object>>,
  inputOf: InputOf<Input>,
): CompanyRoute["run"] {
  return ({ call, options }, request) =>
    call(operation, inputOf(request, options())).then((result) => jsonAnswer(JSON.stringify(result)));
}

/** Answers with the result of the operation, which is JSON text. */
export function answersDocument<Input>(
  operation: Operation<Input, Promise<string>>,
  inputOf: InputOf<Input>,
): CompanyRoute["run"] {
  return ({ call, options }, request) =>
    call(operation, inputOf(request, options())).then((text) => jsonAnswer(text));
}
