import { Option } from "commander";
import type { FileReason } from "../../app/admin/file-view.ts";
import type {
  IntegrationTrial,
  IntegrationView,
  TriedIntegration,
} from "../../app/admin/integration-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";
import { tableLines } from "../table.ts";

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

type TestOptions = CommonOptions & Pick<IntegrationTrial, "as">;

function declareTest(integration: CliCommand): void {
  integration
    .declare("test", "map a file and try the import, without changing anything")
    .withJson()
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
    .onConfig(async (run, config, name: string, file: string, options: TestOptions) => {
      const { tryIntegration } = await import("../../app/admin/integration-admin.ts");
      const tried = await tryIntegration(config, { name, file, ...options });
      run.printResult(options, tried, trialLines);
      if (tried.reasons.length > 0) run.exitCode = exitCodes.failure;
    });
}

/** `dropgate integration list|test` */
export function declareIntegration(program: CliCommand): void {
  const integration = program.declare("integration", "custom integrations");
  declareTest(integration);
  integration
    .declare("list", "list the integrations; exit code 1 when one cannot be used")
    .withJson()
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listIntegrations } = await import("../../app/admin/integration-admin.ts");
      const views = await listIntegrations(config);
      run.printResult(options, views, listLines);
      if (views.some(({ fault }) => fault !== null)) run.exitCode = exitCodes.failure;
    });
}
