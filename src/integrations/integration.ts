/** A custom integration (specification/integrations.md#mapping) as all parts know it. */
import type { ImportKindName } from "../domain/fields/import-kind.ts";

export interface Integration {
  /** The `serviceName` of imports that go through it. */
  readonly name: string;
  /** Where its expression was read. */
  readonly file: string;
  /** The JSONata expression. */
  readonly expression: string;
  /** The form of the bodies that it takes. */
  readonly input: "json" | "xml";
  /** How long one mapping may take. */
  readonly timeoutMs: number;
  /** Size of the document that it makes, in JSON. */
  readonly maxOutputBytes: number;
  /** Codes of the companies that may use it; undefined: all. */
  readonly companies: readonly string[] | undefined;
}

/** The input of one mapping. */
export interface MappingRequest {
  readonly serviceName: string;
  /** The company's code as it is registered; the expression has it as `$companyCode`. */
  readonly companyCode: string;
  readonly importKind: ImportKindName;
  readonly bytes: Uint8Array;
  /** The charset that XML came under. */
  readonly charset?: string | undefined;
  /** Levels that the body and the document may be nested, in JSON. */
  readonly maxDepth: number;
  /** Values that the body may have, in JSON. */
  readonly maxValues?: number;
}

/** The message when the time of a mapping is over. */
export function outOfTimeMessage(name: string, timeoutMs: number): string {
  return `the integration ${name} has not mapped the body in its time of ${timeoutMs} ms. Send it in smaller parts, or tell the operator.`;
}
