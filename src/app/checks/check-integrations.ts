/** Checks of the custom integrations: their expressions can be read and compile, and their companies are known. */
import type { Config } from "../../config/schema.ts";
import { isSameCompanyCode } from "../../domain/users/company-code.ts";
import { type CheckFinding, fine, problem, warning } from "../watch/check-finding.ts";
import { formatIntegrationFaults, readIntegrations } from "../daemon/read-integrations.ts";

function checkCompanies(name: string, companies: readonly string[], known: readonly string[]) {
  const unknown = companies.filter((code) => !known.some((one) => isSameCompanyCode(one, code)));
  const remedy = "`dropgate company add` it, or take it out of the configuration";
  return unknown.map((code) =>
    warning(`the integration ${name} is for company ${code}, which is not registered`, remedy),
  );
}

/** `codes` are those of the registered companies; undefined when they are not known. */
export async function checkIntegrations(
  config: Config,
  codes: readonly string[] | undefined,
): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (const [name, settings] of Object.entries(config.integrations)) {
    const read = await readIntegrations({ integrations: { [name]: settings } });
    if (read.kind === "faulty")
      findings.push(problem(formatIntegrationFaults(read.faults), "correct it; see docs/integrations.md"));
    else findings.push(fine(`the integration ${name} compiles (${settings.file})`));
    if (codes !== undefined) findings.push(...checkCompanies(name, settings.companies ?? [], codes));
  }
  return findings;
}
