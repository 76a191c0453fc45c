import type { Command } from "commander";
import type { addCompany } from "../app/admin.ts";
import { type CliRun, declare, printJson, printLines, requireConfig, withJson } from "./command-line.ts";
import { tableLines } from "./table.ts";

type AddedCompany = Awaited<ReturnType<typeof addCompany>>;

/** Codes compare without regard to case: the one that counts is the one that was registered first. */
function addedLine(given: string, { code, isNew, folder }: AddedCompany): string {
  const place = `its folders are in ${folder}`;
  if (isNew) return `Company ${code} registered; ${place}.`;
  const spelling = given === code ? "" : ` (${given} is the same code)`;
  return `Company ${code} was registered already${spelling}; ${place}.`;
}

/** `dropgate company add|list` */
export function declareCompany(program: Command, run: CliRun): void {
  const company = declare(program, "company", "companies");
  declare(company, "add", "register a company and make its folders")
    .argument("<code>", "1 to 20 letters, digits, _ and -")
    .action(async (code: string, _options: object, command: Command) => {
      const config = await requireConfig(run, command);
      const { addCompany } = await import("../app/admin.ts");
      const added = await addCompany(config, code);
      printLines(run, [addedLine(code, added)]);
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
