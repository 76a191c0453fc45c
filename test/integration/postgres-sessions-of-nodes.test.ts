/** What a server of PostgreSQL sees of the sessions of a node. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/store/database/database.ts";
import { PostgresSession } from "../../src/store/database/postgres/postgres-session.ts";
import { idleInTransactionMsOf } from "../../src/store/database/postgres/session-connection.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { cutAtCommit } from "../support/cut-at-commit.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let server: PostgresServer;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});

it.each([
  [2_000, 1_000],
  [3_000, 1_500],
  [10_000, 8_000],
  [600_000, 8_000],
])("a node with a lease of %i ms may idle in a transaction for %i ms", (leaseMs, idleMs) => {
  expect(idleInTransactionMsOf({ leaseMs })).toBe(idleMs);
});

describe.runIf(hasPostgres)("a node that stands still within a transaction", () => {
  it("is known to the server by its name, and loses its locks before its lease is over", async () => {
    const [url, leaseMs] = [await server.makeDatabase("frozen"), 20_000];
    const store = await openStore(temporaryFolder(), { url, node: { name: "gate-1", leaseMs } });
    onTestFinished(() => store.close());
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
    const frozen = store.write("site", async (tx) => {
      await tx.updateTable("lanes").set({ epoch: 9 }).where("company_id", "=", 0).execute();
      const timer = setTimeout(thaw, 2 * leaseMs);
      await thawed.finally(() => clearTimeout(timer));
    });
    const failed = expect(frozen).rejects.toThrow(/PostgreSQL/);
    const inHand =
      "select 1 from pg_stat_activity where application_name = 'dropgate gate-1' and xact_start is not null";
    await expect.poll(() => askPostgres(url, inHand)).not.toEqual([]);
    const asked = performance.now();
    await askPostgres(url, "update lanes set epoch = epoch where company_id = 0");
    expect(performance.now() - asked).toBeLessThan(leaseMs);
    thaw();
    await failed;
    expect(await askPostgres(url, "select epoch from lanes where company_id = 0")).toEqual([["0"]]);
  });
});

/** A writer of a node, through a link that loses its next commit or the answer to that. */
async function cutWriter(database: string) {
  const url = await server.makeMigrated(database);
  const store = await openStore(temporaryFolder(), { url });
  onTestFinished(() => store.close());
  const cutter = await cutAtCommit(Number(new URL(url).port));
  onTestFinished(() => cutter.end());
  const through = new URL(url);
  through.port = String(cutter.port);
  const node = { name: "gate-1", leaseMs: 10_000 };
  const session = new PostgresSession({ url: through.href, node, isReader: false, writerOf: currentSchema });
  onTestFinished(() => session.close());
  const begin = async (number?: string) => {
    await session.begin();
    const given = await session.query({
      text: "update lanes set epoch = epoch + 1 where company_id = 0 returning pg_current_xact_id()::text as id",
      values: [],
    });
    const id = String(given.rows[0]?.["id"]);
    session.noteTransaction(number ?? id);
    return id;
  };
  const epochs = async () =>
    Number((await askPostgres(url, "select epoch from lanes where company_id = 0"))[0]?.[0]);
  return { cutter, session, begin, epochs };
}

describe.runIf(hasPostgres)("a commit of a node", () => {
  it("tells why its mark could not be left, and not that the values are at fault", async () => {
    const url = await server.makeMigrated("unmarked");
    const node = { name: "gate-1", leaseMs: 10_000 };
    const session = new PostgresSession({ url, node, isReader: false, writerOf: currentSchema });
    onTestFinished(() => session.close());
    await askPostgres(
      url,
      `create function full_disk() returns trigger language plpgsql as $full$
         begin raise exception 'no space is left' using errcode = '53100'; end $full$;
       create trigger full_disk before insert or update on meta for each row
         when (new.key like 'last_write_of %') execute function full_disk()`,
    );
    await session.begin();
    const { rows } = await session.query({
      text: "update lanes set epoch = epoch + 1 where company_id = 0 returning pg_current_xact_id()::text as id",
      values: [],
    });
    session.noteTransaction(String(rows[0]?.["id"]));
    await expect(session.commit()).rejects.toMatchObject({
      ...{ kind: "unavailable", message: expect.stringContaining("no space is left") },
    });
    expect(await askPostgres(url, "select epoch from lanes where company_id = 0")).toEqual([["0"]]);
  });
});

describe.runIf(hasPostgres)("a commit of a node that is not answered", () => {
  it("is lost although its number is that of a transaction which is committed, as after a fail-over", async () => {
    const { cutter, session, begin, epochs } = await cutWriter("reused");
    const committed = await begin();
    await session.commit();
    await begin(committed);
    cutter.loseOnce("commit");
    await expect(session.commit()).rejects.toMatchObject({ kind: "unavailable" });
    expect(await epochs()).toBe(1);
  });

  it("is done when its mark is there, and the next ones are told from it", async () => {
    const { cutter, session, begin, epochs } = await cutWriter("answered");
    for (const count of [1, 2]) {
      await begin();
      cutter.loseOnce("answer");
      await session.commit();
      expect(await epochs()).toBe(count);
    }
  });
});
