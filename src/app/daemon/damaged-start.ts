/**
 * A start that fails because the database is damaged where every start reads it: which tables are damaged, and the
 * remedy.
 */
import { messageOf } from "../../lib/errors.ts";
import { isStoreDamaged, storeRemedies } from "../../lib/store-error.ts";
import { lookAtIntegrity } from "../../store/database/integrity-look.ts";
import { toStoreError } from "../../store/database/sqlite-dialect.ts";

/** Checking a large database takes long; without a result in this time the tables are not named. */
const longestLookMs = 60_000;

function isDamage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (isStoreDamaged(toStoreError(one))) return true;
  return false;
}

async function damagedTables(stateDir: string): Promise<readonly string[]> {
  const look = lookAtIntegrity(stateDir, AbortSignal.timeout(longestLookMs));
  // Its result only adds to what is known already; its own failure is ignored for that reason.
  const outcome = await look.catch(() => undefined);
  return outcome !== undefined && "problems" in outcome ? outcome.problems : [];
}

/** In words for an administrator; undefined when the start failed for something else. */
export async function damageAtStart(error: unknown, stateDir: string): Promise<string | undefined> {
  if (!isDamage(error)) return undefined;
  const tables = await damagedTables(stateDir);
  const what = tables.length === 0 ? messageOf(error) : tables.join("; ");
  return `the database is damaged (${what}), where every start has to read it; ${storeRemedies.damaged}`;
}
