import type { addCompany, setCompany } from "../../app/admin/admin.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";

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

function addressOf({ addr1, addr2, city, state, zip, country }: CompanyView): string {
  return [addr1, addr2, city, state, zip, country].filter((part) => part !== undefined).join(", ");
}

function companyLines(companies: readonly CompanyView[]): readonly string[] {
  if (companies.length === 0) return ["There is no company yet: `dropgate company add` makes one."];
  const rows = companies.map((one) => [one.code, one.name ?? "", addressOf(one), one.createdAt]);
  return tableLines(["CODE", "NAME", "ADDRESS", "REGISTERED"], rows);
}

function declareSet(company: CliCommand): void {
  const set = company
    .declare("set", "set name and address of a company")
    .argument("<code>", "code of the company")
    .option("--name <text>", "name of the company")
    .option("--addr1 <text>", "street and number")
    .option("--addr2 <text>", "second line of the street")
    .option("--city <text>", "city")
    .option("--state <text>", "state or province")
    .option("--zip <text>", "postal code")
    .option("--country <text>", "country")
    .addHelpText("after", '\nOptions that are left out change nothing; an empty text ("") clears the value.');
  set.withJson().onConfig(async (run, config, code: string, options: CompanyChange & CommonOptions) => {
    const { setCompany } = await import("../../app/admin/admin.ts");
    const { json: _, ...change } = options;
    const changed = await setCompany(config, code, change);
    run.printResult(options, changed, (company) => companyLines([company]));
  });
}

/** `dropgate company add|set|list` */
export function declareCompany(program: CliCommand): void {
  const company = program.declare("company", "companies");
  company
    .declare("add", "register a company and make its folders")
    .argument("<code>", "1 to 20 letters, digits, _ and -")
    .onConfig(async (run, config, code: string, _options: object) => {
      const { addCompany } = await import("../../app/admin/admin.ts");
      run.printLines([addedLine(code, await addCompany(config, code))]);
    });
  declareSet(company);
  company
    .declare("list", "list the companies")
    .withJson()
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listCompanies } = await import("../../app/admin/admin.ts");
      run.printResult(options, await listCompanies(config), companyLines);
    });
}
