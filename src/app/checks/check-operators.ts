/** Whether those whom `console.operators` names are there and can sign in to the console (specification/console.md#access). */
import type { Config } from "../../config/schema.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { isSameCompanyCode } from "../../domain/users/company-code.ts";
import { isNamedOperator } from "../../domain/users/operator.ts";
import { counted } from "../../lib/counted.ts";
import { inspectUsers } from "../../store/database/inspect-store.ts";
import type { UserRecord } from "../../store/accounts/users.ts";
import { type CheckFinding, fine, warning } from "../watch/check-finding.ts";

export interface OperatorsAsked {
  /** As NAME@COMPANY. */
  readonly operators: readonly string[];
  /** Codes of all companies. */
  readonly companies: readonly string[];
  /** All users of these names. */
  readonly users: readonly Pick<UserRecord, "userName" | "memberships" | "isEnabled" | "passwordHash">[];
}

const orCorrect = "or correct console.operators and reload";

/** What keeps one of them out of the console; undefined when nothing does. */
function faultOf(
  operator: string,
  { companies, users }: Omit<OperatorsAsked, "operators">,
): CheckFinding | undefined {
  const at = operator.lastIndexOf("@");
  const [name, company] = [operator.slice(0, at), operator.slice(at + 1)];
  const found = users.find((user) => isNamedOperator([operator], user));
  const named = (fault: string, remedy: string) =>
    warning(`console.operators names ${operator}, ${fault}`, remedy);
  if (!companies.some((code) => isSameCompanyCode(code, company)))
    return named(`and there is no company ${company}`, `\`dropgate company add ${company}\`, ${orCorrect}`);
  const user = `${name} --company ${company}`;
  if (found === undefined)
    return named(
      `and ${company} has no user ${name}`,
      `\`dropgate user add ${user} --role MemberAdmin\`, ${orCorrect}`,
    );
  if (!found.isEnabled) return named("who is disabled", `\`dropgate user enable ${user}\`, ${orCorrect}`);
  if (found.passwordHash === null)
    return named(
      "who has no password: nobody signs in to the console with a key",
      `\`dropgate user set-password ${user}\`, ${orCorrect}`,
    );
  return undefined;
}

/** A line for each who is nobody; one line when all are somebody. None named is no fault: it is how one begins. */
export function operatorFindings(asked: OperatorsAsked): readonly CheckFinding[] {
  const { operators } = asked;
  if (operators.length === 0)
    return [fine("console.operators names nobody: health, disk and bans are in no console")];
  const faults = operators.map((operator) => faultOf(operator, asked)).filter((one) => one !== undefined);
  if (faults.length > 0) return faults;
  return [
    fine(`console.operators names ${counted(operators.length, "user")} who can sign in to the console`),
  ];
}

/** Nothing where there is no console. */
export async function checkOperators(
  { console: { enabled, operators }, ...config }: Pick<Config, "console" | "stateDir" | "store">,
  companies: readonly string[],
): Promise<readonly CheckFinding[]> {
  if (!enabled) return [];
  const names = operators.map((operator) => operator.slice(0, operator.lastIndexOf("@")));
  return operatorFindings({ operators, companies, users: await inspectUsers(statePlaceOf(config), names) });
}
