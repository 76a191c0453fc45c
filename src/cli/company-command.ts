import type { Command } from "commander";
import type { addCompany, setCompany } from "../app/admin/admin.ts";
import {
  type CliRun,
  type CommonOptions,
  declare,
  onConfig,
  printLines,
  printResult,
  withJson,
} from "./command-line.ts";
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

function companyLines(companies: readonly CompanyView[]): readonly string[] {
  if (companies.length === 0) return ["There is no company yet: `dropgate company add` makes one."];
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
    onConfig(run, async (config, code: string, options: CompanyChange & CommonOptions) => {
      const { setCompany } = await import("../app/admin/admin.ts");
      const { json: _, ...change } = options;
      const changed = await setCompany(config, code, change);
      printResult(run, options, changed, (company) => companyLines([company]));
    }),
  );
}

/** `dropgate company add|set|list` */
export function declareCompany(program: Command, run: CliRun): void {
  const company = declare(program, "company", "companies");
  declare(company, "add", "register a company and make its folders")
    .argument("<code>", "1 to 20 letters, digits, _ and -")
    .action(
      onConfig(run, async (config, code: string, _options: object) => {
        const { addCompany } = await import("../app/admin/admin.ts");
        printLines(run, [addedLine(code, await addCompany(config, code))]);
      }),
    );
  declareSet(company, run);
  withJson(declare(company, "list", "list the companies")).action(
    onConfig(run, async (config, options: CommonOptions) => {
      const { listCompanies } = await import("../app/admin/admin.ts");
      printResult(run, options, await listCompanies(config), companyLines);
    }),
  );
}
