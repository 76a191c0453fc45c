/** Units of work that stay open for as long as a test wants. */
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";

/** The server ends a session that has asked for nothing for eight seconds within a unit: this one goes on asking. */
export async function stayWithin(tx: Transaction, until: Promise<void>): Promise<void> {
  const isOver = until.then(() => true);
  while (!(await Promise.race([isOver, pause(1_000, false, { ref: false })])))
    await sql`select 1`.execute(tx);
}
