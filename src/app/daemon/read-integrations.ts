/** Reads the expressions that the configuration names, and sees that each compiles: at start, at reload, and for `check`. */
import { readFile } from "node:fs/promises";
import { type ConfigFault, formatConfigFaults } from "../../config/reader/config-fault.ts";
import type { Config } from "../../config/schema.ts";
import type { Integration } from "../../integrations/integration.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";

/** A fault of the configuration that stands in another file. */
export interface IntegrationFault {
  readonly name: string;
  /** The file with the expression. */
  readonly file: string;
  readonly fault: ConfigFault;
}

export type ReadIntegrations =
  | { readonly kind: "read"; readonly integrations: ReadonlyMap<string, Integration> }
  | { readonly kind: "faulty"; readonly faults: readonly IntegrationFault[] };

type Settings = Config["integrations"][string];

const maxExpressionBytes = 1_000_000;

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const why = systemCodeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    throw new Error(`cannot be read: ${why}`);
  });
  if (bytes.length > maxExpressionBytes) throw new Error(`is over ${maxExpressionBytes} bytes long`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("is not UTF-8; save it as UTF-8"); // The decoder's only failure.
  }
}

/** The fault of an expression, with the text around the place; undefined when it compiles. */
async function faultOf(
  text: string,
  { timeoutMs }: Settings,
): Promise<Omit<ConfigFault, "path"> | undefined> {
  // Only here: who has no integrations never loads the library.
  const { compileExpression } = await import("../../integrations/compile-expression.ts");
  if (text.trim() === "") return { message: "is empty; write the JSONata expression" };
  const outcome = compileExpression(text, { timeoutMs });
  if (outcome.kind === "compiled") return undefined;
  const { message, excerpt, ...place } = outcome.fault;
  const near = excerpt === undefined || excerpt === "" ? "" : `, near \`${excerpt}\``;
  return { ...place, message: `cannot be used as a JSONata expression: ${message}${near}` };
}

async function readOne(name: string, settings: Settings): Promise<Integration | IntegrationFault> {
  const { file, companies } = settings;
  const path = `integrations.${name}.file`;
  try {
    const expression = await readText(file);
    const fault = await faultOf(expression, settings);
    if (fault !== undefined) return { name, file, fault: { ...fault, path } };
    return { ...settings, name, expression, companies };
  } catch (error) {
    return { name, file, fault: { path, message: messageOf(error) } };
  }
}

/** The integrations of a configuration, or every fault of their files. Never rejects for what stands in a file. */
export async function readIntegrations({
  integrations,
}: Pick<Config, "integrations">): Promise<ReadIntegrations> {
  const read = await Promise.all(
    Object.entries(integrations).map(([name, settings]) => readOne(name, settings)),
  );
  const faults = read.filter((one) => "fault" in one);
  if (faults.length > 0) return { kind: "faulty", faults };
  const good = read.flatMap((one) => ("fault" in one ? [] : [one]));
  return { kind: "read", integrations: new Map(good.map((one) => [one.name, one])) };
}

/** One line a fault, `file:line:column: path: message`. */
export function formatIntegrationFaults(faults: readonly IntegrationFault[]): string {
  return faults.map(({ file, fault }) => formatConfigFaults([fault], file)).join("\n");
}
