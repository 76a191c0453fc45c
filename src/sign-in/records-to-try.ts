/** Which records of a name an attempt is tried with. */
import { isSameCompanyCode } from "../domain/users/company-code.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { UserRecord } from "../store/accounts/users.ts";
import type { PasswordAttempt } from "./sign-in.ts";

/** One name in very many companies must not cost very many hashes. */
const maxRecordsTried = 20;

/** The records of the company when the request names one, else all by age. */
function recordsFor(records: readonly UserRecord[], companyCode: string | undefined): readonly UserRecord[] {
  if (companyCode === undefined) return records;
  return records.filter(({ memberships }) =>
    memberships.some((membership) => isSameCompanyCode(membership.companyCode, companyCode)),
  );
}

/** Of those that have the name, at most 20. */
export function recordsToTry(
  log: Pick<Logger, "warn">,
  attempt: PasswordAttempt,
  found: readonly UserRecord[],
): readonly UserRecord[] {
  const records = recordsFor(found, attempt.companyCode);
  if (records.length <= maxRecordsTried) return records;
  const user = attempt.userName.slice(0, 64);
  log.warn({ user, records: records.length }, "too many users of one name: not all are tried");
  return records.slice(0, maxRecordsTried);
}
