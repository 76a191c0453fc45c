import type { Command } from "commander";
import { type CliRun, declare, printJson, printLines, requireConfig, withJson } from "./command-line.ts";
import { tableLines } from "./table.ts";

/** `dropgate company add|list` */
export function declareCompany(program: Command, run: CliRun): void {
  const company = declare(program, "company", "companies");
  declare(company, "add", "register a company and make its folders")
    .argument("<code>", "1 to 20 letters, digits, _ and -")
    .action(async (code: string, _options: object, command: Command) => {
      const config = await requireConfig(run, command);
      const { addCompany } = await import("../app/admin.ts");
      const added = await addCompany(config, code);
      const outcome = added.isNew ? "registered" : "was registered already";
      printLines(run, [`Company ${added.code} ${outcome}; its folders are in ${added.folder}.`]);
    });
  withJson(declare(company, "list", "list the companies")).action(
    async (options: { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listCompanies } = await import("../app/admin.ts");
      const companies = await listCompanies(config);
      if (options.json) printJson(run, companies);
      else if (companies.length === 0)
        printLines(run, ["There is no company yet: `dropgate company add` makes one."]);
      else
        printLines(
          run,
          tableLines(
            ["CODE", "REGISTERED"],
            companies.map((one) => [one.code, one.createdAt]),
          ),
        );
    },
  );
}
