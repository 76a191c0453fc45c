/**
 * The `serviceName` of an import: `default`, or the name of a custom integration, which first makes the standard document of
 * the body (specification/integrations.md#service-name).
 */
import type { ImportKindName } from "../../domain/fields/import-kind.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { defaultJsonLimits, largeBodyBytes, type PreparationDeps } from "./import-preparation.ts";
import type { ImportInput } from "./import-request.ts";
import type { WriteDeps } from "../operation-deps.ts";

export const defaultService = "default";

/** The untouched body. */
export interface SentBody {
  readonly form: "json" | "xml";
  readonly bytes: Uint8Array;
  /** The charset that came with it, for XML. */
  readonly charset?: string | undefined;
}

export interface ServiceImport extends ImportInput {
  readonly serviceName: string;
  /** For an integration, which reads the body itself; `body` is ignored then. */
  readonly sent?: SentBody;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: () => AbortSignal;
}

export interface BodyToMap {
  readonly serviceName: string;
  readonly companyCode: string;
  readonly importKind: ImportKindName;
  readonly bytes: Uint8Array;
  readonly maxDepth: number;
  readonly maxValues?: number;
}

/** The custom integrations, as imports use them. */
export interface ImportIntegrations {
  /** The integration of that name, if the company may use it. */
  find(serviceName: string, companyCode: string): { readonly input: "json" | "xml" } | undefined;
  /** The document that it makes of a body, as JSON text. Throws a `DropgateError` with what is wrong. */
  mapToText(body: BodyToMap, signal?: AbortSignal): Promise<string>;
}

export interface ServiceDeps {
  /** Without it there are none. */
  readonly integrations?: ImportIntegrations;
}

/** For the imports that have a `serviceName`. */
export interface ServiceImportDeps extends ServiceDeps, PreparationDeps, WriteDeps {
  /** Where the content of documents is kept. */
  readonly documentsDir: string;
}

function unknownService(serviceName: string): DropgateError {
  const shown = serviceName.slice(0, 40);
  return new DropgateError(
    "unknownService",
    `there is no integration ${shown}. Send the import with the serviceName default.`,
  );
}

function sentBodyOf({ sent, body }: ServiceImport): SentBody {
  return sent ?? { form: "json", bytes: Buffer.from(JSON.stringify(body ?? null)) };
}

/** Throws 942 when the integration takes the other form. */
function checkForm(serviceName: string, sent: SentBody, input: "json" | "xml"): void {
  if (sent.form === input) return;
  const type = input === "xml" ? "application/xml" : "application/json";
  const message = `the integration ${serviceName} takes ${input.toUpperCase()}. Send Content-Type: ${type}.`;
  throw new DropgateError("mediaType", message);
}

async function mappedBody(
  { integrations }: ServiceDeps,
  input: ServiceImport,
  importKind: ImportKindName,
): Promise<Pick<ImportInput, "body" | "large">> {
  const { serviceName, companyCode, jsonLimits = defaultJsonLimits, signal } = input;
  const found = integrations?.find(serviceName, companyCode);
  if (integrations === undefined || found === undefined) throw unknownService(serviceName);
  const sent = sentBodyOf(input);
  checkForm(serviceName, sent, found.input);
  const { bytes, charset } = sent;
  const request = { serviceName, companyCode, importKind, bytes, charset, ...jsonLimits };
  const text = await integrations.mapToText(request, signal?.());
  // A text of so many bytes has at least a third of the units.
  if (text.length < largeBodyBytes / 3) return { body: JSON.parse(text) };
  return { body: undefined, large: Buffer.from(text) };
}

/** The sender has never seen the document whose faults these are: each says so. */
function aboutTheDocument(thrown: unknown, serviceName: string): unknown {
  if (!(thrown instanceof DropgateError) || thrown.code === "overloaded" || thrown.code === "internal")
    return thrown;
  const remark = (fault: Fault): Fault => {
    // One entry where a list was meant is what expressions give that do not say that they make a list.
    const hint = / is not a list\./.test(fault.message) ? " Write [ ] around it in the expression." : "";
    const message = `${fault.message}${hint} (In the document that the integration ${serviceName} made of the body.)`;
    return { ...fault, message };
  };
  const faults = thrown.faults.map(remark);
  return new DropgateError(thrown.code, faults[0]?.message ?? thrown.message, {
    faults,
    cause: thrown.cause,
  });
}

/** An import of the standard document. */
interface StandardImport<Input, Result> {
  readonly importKind: ImportKindName;
  run(input: Input): Promise<Result>;
}

async function importMapped<Input extends ServiceImport, Result>(
  deps: ServiceDeps,
  input: Input,
  { importKind, run }: StandardImport<Input, Result>,
): Promise<Result> {
  const mapped = await mappedBody(deps, input, importKind);
  const { serviceName } = input;
  // Not awaited here: while it waits for the commit, nothing is to hold the body and the document made of it.
  return run({ ...input, ...mapped }).catch((thrown: unknown) => {
    throw aboutTheDocument(thrown, serviceName);
  });
}

/**
 * Runs an import on the standard document: the body itself, or what the integration makes of it. Throws 908 for a name that
 * no integration of the company has, 942 for a body of the wrong form, what `ImportIntegrations.map` throws, and what `run`
 * throws, with the remark that it is about the mapped document.
 */
export function importThroughService<Input extends ServiceImport, Result>(
  deps: ServiceDeps,
  input: Input,
  standard: StandardImport<Input, Result>,
): Promise<Result> {
  // Without a wait of its own, which would cost time and hold the body until the commit.
  return input.serviceName === defaultService ? standard.run(input) : importMapped(deps, input, standard);
}
