/** Units of work that stay open for as long as a test wants. */
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "../../src/store/database/database.ts";
import type { Transaction, Work } from "../../src/store/database/groups/group-commit.ts";
import type { Owner } from "../../src/store/database/owner.ts";

/** The server ends a session that has asked for nothing for eight seconds within a unit: this one goes on asking. */
export async function stayWithin(tx: Transaction, until: Promise<void>): Promise<void> {
  const isOver = until.then(() => true);
  while (!(await Promise.race([isOver, pause(1_000, false, { ref: false })])))
    await sql`select 1`.execute(tx);
}

/** A unit that has done this, and stays open until it is told to commit. */
export async function openUnit<T>(store: Pick<Store, "write">, whose: Owner, work: Work<T>) {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const written = store.write(whose, async (tx) => {
    const result = await work(tx);
    begun.resolve();
    await stayWithin(tx, end.promise);
    return result;
  });
  await Promise.race([begun.promise, written]);
  return {
    async commit(): Promise<T> {
      end.resolve();
      return await written;
    },
  };
}
