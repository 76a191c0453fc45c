import type { Command } from "commander";
import type { addCompany, setCompany } from "../app/admin/admin.ts";
import { type CliRun, declare, printJson, printLines, requireConfig, withJson } from "./command-line.ts";
import { tableLines } from "./table.ts";

type CompanyView = Awaited<ReturnType<typeof setCompany>>;
type CompanyChange = Parameters<typeof setCompany>[2];
type AddedCompany = Awaited<ReturnType<typeof addCompany>>;

/** Codes are compared without regard to case: the spelling that was registered first counts. */
function addedLine(given: string, { code, isNew, folder }: AddedCompany): string {
  const place = `its folders are in ${folder}`;
  if (isNew) return `Company ${code} registered; ${place}.`;
  const spelling = given === code ? "" : ` (${given} is the same code)`;
  return `Company ${code} was registered already${spelling}; ${place}.`;
}

/** The address in one line. */
function addressOf({ addr1, addr2, city, state, zip, country }: CompanyView): string {
  return [addr1, addr2, city, state, zip, country].filter((part) => part !== undefined).join(", ");
}

function companyTable(companies: readonly CompanyView[]): readonly string[] {
  const rows = companies.map((one) => [one.code, one.name ?? "", addressOf(one), one.createdAt]);
  return tableLines(["CODE", "NAME", "ADDRESS", "REGISTERED"], rows);
}

function declareSet(company: Command, run: CliRun): void {
  const set = declare(company, "set", "set name and address of a company")
    .argument("<code>", "code of the company")
    .option("--name <text>", "name of the company")
    .option("--addr1 <text>", "street and number")
    .option("--addr2 <text>", "second line of the street")
    .option("--city <text>", "city")
    .option("--state <text>", "state or province")
    .option("--zip <text>", "postal code")
    .option("--country <text>", "country")
    .addHelpText("after", '\nOptions that are left out change nothing; an empty text ("") clears the value.');
  withJson(set).action(
    async (code: string, options: CompanyChange & { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { setCompany } = await import("../app/admin/admin.ts");
      const { json, ...change } = options;
      const view = await setCompany(config, code, change);
      if (json) printJson(run, view);
      else printLines(run, companyTable([view]));
    },
  );
}

/** `dropgate company add|set|list` */
export function declareCompany(program: Command, run: CliRun): void {
  const company = declare(program, "company", "companies");
  declare(company, "add", "register a company and make its folders")
    .argument("<code>", "1 to 20 letters, digits, _ and -")
    .action(async (code: string, _options: object, command: Command) => {
      const config = await requireConfig(run, command);
      const { addCompany } = await import("../app/admin/admin.ts");
      const added = await addCompany(config, code);
      printLines(run, [addedLine(code, added)]);
    });
  declareSet(company, run);
  withJson(declare(company, "list", "list the companies")).action(
    async (options: { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listCompanies } = await import("../app/admin/admin.ts");
      const companies = await listCompanies(config);
      if (options.json) printJson(run, companies);
      else if (companies.length === 0)
        printLines(run, ["There is no company yet: `dropgate company add` makes one."]);
      else printLines(run, companyTable(companies));
    },
  );
}
