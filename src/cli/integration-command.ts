import { type Command, Option } from "commander";
import type { FileReason } from "../app/admin/ledger-admin.ts";
import type { IntegrationView } from "../app/admin/list-integrations.ts";
import type { IntegrationTrial, TriedIntegration } from "../app/admin/try-integration.ts";
import {
  type CliRun,
  declare,
  exitCodes,
  printJson,
  printLines,
  requireConfig,
  withJson,
} from "./command-line.ts";
import { tableLines } from "./table.ts";

const kinds = ["loads", "stops", "asn", "orders"] as const;

function reasonLine({ line, column, reasonCode, path, message }: FileReason): string {
  const place = line === undefined ? "" : ` line ${line}${column === undefined ? "" : `, column ${column}`}`;
  return `  ${reasonCode}${path === undefined ? "" : ` ${path}`}${place}: ${message}`;
}

function verdictOf({ integration, importKind, reasons, durationMs }: TriedIntegration): string {
  const time = `(${durationMs} ms with the start of its process)`;
  if (importKind === undefined) return `${integration} has made no document that can be imported ${time}:`;
  const what = `The import of ${importKind === "asn" ? "ASNs" : importKind}`;
  return reasons.length === 0 ? `${what} would be taken ${time}.` : `${what} would be refused ${time}:`;
}

function trialLines(tried: TriedIntegration): string[] {
  const { document, reasons, note } = tried;
  return [
    ...(document === undefined ? [] : JSON.stringify(document, null, 2).split("\n")),
    verdictOf(tried),
    ...reasons.map(reasonLine),
    ...(note === undefined ? [] : [`  ${note}`]),
  ];
}

function listLines(views: readonly IntegrationView[]): string[] {
  if (views.length === 0) return ["There is no integration: docs/integrations.md says how to make one."];
  const rows = views.map(({ name, input, timeoutMs, companies, file, fault }) => [
    name,
    input,
    `${timeoutMs} ms`,
    companies?.join(", ") ?? "all",
    fault === null ? file : `${file} (cannot be used)`,
  ]);
  const faults = views.flatMap(({ fault }) => (fault === null ? [] : [fault]));
  return [...tableLines(["NAME", "INPUT", "TIME", "COMPANIES", "EXPRESSION"], rows), ...faults];
}

interface TestOptions {
  readonly as?: IntegrationTrial["importKind"];
  readonly company?: string;
  readonly json?: true;
}

function declareTest(integration: Command, run: CliRun): void {
  withJson(declare(integration, "test", "map a file and try the import, without changing anything"))
    .argument("<name>", "the integration")
    .argument("<file>", "a body as the host sends it")
    .addOption(
      new Option(
        "--as <kind>",
        "the import it is for; without it, by the list that the document has",
      ).choices(kinds),
    )
    .option("--company <code>", "the company to try it for; needed when there are several")
    .addHelpText("after", "\nExit code 1 when the body cannot be mapped or the import would be refused.")
    .action(async (name: string, file: string, options: TestOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { tryIntegration } = await import("../app/admin/try-integration.ts");
      const { as: importKind, company: companyCode } = options;
      const tried = await tryIntegration(config, {
        name,
        file,
        ...(importKind === undefined ? {} : { importKind }),
        ...(companyCode === undefined ? {} : { companyCode }),
      });
      if (options.json) printJson(run, tried);
      else printLines(run, trialLines(tried));
      if (tried.reasons.length > 0) run.exitCode = exitCodes.failure;
    });
}

/** `dropgate integration list|test` */
export function declareIntegration(program: Command, run: CliRun): void {
  const integration = declare(program, "integration", "custom integrations");
  declareTest(integration, run);
  withJson(declare(integration, "list", "list the integrations; exit code 1 when one cannot be used")).action(
    async (options: { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listIntegrations } = await import("../app/admin/list-integrations.ts");
      const views = await listIntegrations(config);
      if (options.json) printJson(run, views);
      else printLines(run, listLines(views));
      if (views.some(({ fault }) => fault !== null)) run.exitCode = exitCodes.failure;
    },
  );
}
