/** What a target in trouble costs the others; targets that come, go and change. */
import { describe, expect, test } from "vitest";
import { listHeads } from "../store/outbound/delivery-heads.ts";
import { connectionOf } from "../store/database/prepared-query.ts";
import { recordEvents } from "../operations/consequences/record-events.ts";
import { DeliverySite, failure, start, unreachable } from "../../test/support/delivery-site.ts";
import { watchStatements } from "../../test/support/watch-statements.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { isOnPostgres, itOnSqlite } from "../../test/support/store-dialect.ts";
import { hourMs, secondMs } from "../lib/durations.ts";

const delivered = { kind: "delivered" } as const;
const both = ["a", "b"].map((name) => ({ name, takesCompletions: true }));

function stops(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `S${index}`);
}

async function targetRow(site: DeliverySite, name = "host") {
  return await site.store.read
    .selectFrom("outbound_targets")
    .selectAll()
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
}

/** In one transaction, in which a server plans by the empty tables that it has seen before. */
const waiting = isOnPostgres ? 2_000 : 10_000;

describe("fairness", () => {
  test("a dead target with thousands waiting costs another no attempt and next to no statement", async () => {
    const site = await DeliverySite.open({ targets: both });
    const { companyId, store } = site;
    await site.addStop("S");
    await store.write("site", async (tx) => {
      const states = { stop_status: "90", receive_status: "00" } as const;
      const body = { company_id: companyId, ...states, body: "{}" };
      const times = { created_at: start, updated_at: start };
      const kind = "stopDelivery" as const;
      // Some at a time: in a server each statement is a round trip.
      for (let first = 0; first < waiting; first += 500) {
        const stopNbrs = Array.from({ length: 500 }, (_, index) => `S${first + index}`);
        const numbers = stopNbrs.map((stopNbr) => ({
          stop_nbr: stopNbr,
          stop_nbr_key: stopNbr.toLowerCase(),
        }));
        await tx
          .insertInto("stops")
          .values(numbers.map((number) => ({ ...body, ...number, ...times, execution: "{}" })))
          .execute();
        await recordEvents(
          tx,
          stopNbrs.map((stopNbr) => ({ companyId, kind, stopNbr, recordedAt: start })),
        );
      }
      await tx.deleteFrom("deliveries").where("target_id", "=", 2).execute();
    });
    site.target("a").script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    expect(site.target("a").sent).toHaveLength(4);
    expect(site.target("b").sent).toHaveLength(0);

    let reads = 0;
    const connection = await connectionOf(store.read);
    watchStatements(connection, () => {
      reads += 1;
    });
    await site.complete(...stops(100).map((stop) => `N${stop}`));
    await site.pass(secondMs);
    expect(site.target("b").sent).toHaveLength(100);
    expect(site.target("a").sent).toHaveLength(4);
    // A list of targets, and for the other one some pages and what is rendered from, 32 deliveries at a time.
    expect(reads).toBeLessThan(40);
  });

  test("a commit that adds nothing for a target costs it no statement, also when something waits for it", async () => {
    const targets = Array.from({ length: 30 }, (_, index) => ({ name: `t${index}`, takesCompletions: true }));
    const site = await DeliverySite.open({ targets });
    for (const { name } of targets) site.target(name).script = () => failure();
    await site.complete("S1");
    await site.startQueue();
    await site.pass(0);
    const asked: string[] = [];
    watchStatements(await connectionOf(site.store.read), (sql) => asked.push(sql));
    await site.addStop("S2");
    await site.pass(0);
    expect(asked.filter((sql) => sql.includes('from "deliveries"'))).toEqual([]);
    expect(asked.length).toBeLessThan(4);
    await site.pass(5 * secondMs);
    for (const { name } of targets) expect(site.target(name).sent).toHaveLength(2);
  });

  itOnSqlite("a page costs the same with many rows waiting: it comes from its index in order", async () => {
    const site = await DeliverySite.open();
    const connection = await connectionOf(site.store.read);
    const asked: string[] = [];
    const end = watchStatements(connection, (sql) => asked.push(sql));
    await listHeads(site.store.read, { targetId: 1, limit: 10 });
    end();
    const [sql = ""] = asked;
    const plan = await connection.executeQuery<{ detail: string }>({
      ...{ sql: `explain query plan ${sql}`, parameters: [1, 10] },
      ...{ query: { kind: "RawNode", sqlFragments: [], parameters: [] }, queryId: { queryId: "plan" } },
    });
    expect(plan.rows.map(({ detail }) => detail)).toEqual([
      "SEARCH deliveries USING INDEX deliveries_due (target_id=?)",
    ]);
  });

  test("a target that never answers keeps its own places only, and holds up neither others nor the stop", async () => {
    const site = await DeliverySite.open({ targets: both });
    await site.complete(...stops(20));
    site.target("a").script = () => new Promise(() => undefined);
    const queue = await site.startQueue();
    await waitFor("the other target to have all", () => site.target("b").sent.length === 20);
    await waitFor("the first target to be busy", () => site.target("a").active === 4);
    expect(site.target("a").sent).toHaveLength(4);
    // It would wait for ever for the answer.
    await queue.stop(AbortSignal.timeout(50));
    const waiting = (await site.rows()).filter(({ state }) => state === "waiting");
    expect(waiting).toHaveLength(20);
    expect(waiting.every(({ attempts }) => attempts === 0)).toBe(true);
  });

  test("a target that never answers, also not to its signal, has a place again when the time is over", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().timeoutMs = 20;
    site.target().script = () => new Promise(() => undefined);
    await site.startQueue();
    await site.pass(0);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "timeout", attempts: 1 });
    site.target().script = () => delivered;
    await site.pass(5 * secondMs);
    expect(await site.states()).toEqual(["delivered"]);
  });
});

describe("the configuration", () => {
  test("of a target that is gone leaves what waits for it waiting, until it is there again", async () => {
    const site = await DeliverySite.open({ targets: both });
    site.target("b").script = () => unreachable;
    await site.complete("S1");
    await site.startQueue();
    await site.pass(0);
    await site.configure({ targets: both.slice(0, 1) });
    await site.pass(hourMs);
    expect(site.target("b").sent).toHaveLength(1);
    expect(site.target("b").closed).toBe(1);
    const told = site.lines.filter(({ msg }) => msg.startsWith("a target is not in the configuration"));
    expect(told).toMatchObject([{ level: "warn", company: "ACME", target: "b", open: 1 }]);
    await site.complete("S2");
    await site.pass(0);
    expect(await site.rows()).toHaveLength(3);
    site.target("b").script = () => delivered;
    await site.configure({ targets: both });
    await site.pass(0);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
  });

  test("that no longer has a target is taken over without asking for it, and the others are tried at once", async () => {
    const site = await DeliverySite.open({ targets: both });
    await site.complete("S1", "S2");
    site.target("a").concurrency = 1;
    site.target("a").script = () => unreachable;
    const asked: string[] = [];
    await site.startQueue({
      targets: ({ name }) => {
        asked.push(name);
        return { target: site.target(name), timeoutMs: 1_000 };
      },
    });
    await site.pass(0);
    expect(asked).toEqual(["a", "b"]);
    await site.configure({ targets: both.slice(0, 1) });
    site.target("a").script = () => delivered;
    site.queue.reload();
    await site.pass(0);
    expect(asked).toEqual(["a", "b", "a"]);
    // Also the first one, which was tried before: whoever changes the configuration has seen to the target.
    expect(await site.states()).toEqual(["delivered", "delivered", "delivered", "delivered"]);
    expect(site.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("that is loaded again gives a new target, tried at once; the old one ends what it has", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    const old = site.target();
    old.concurrency = 2;
    const { promise, resolve } = Promise.withResolvers<void>();
    old.script = async ({ files: [file] }) => {
      if (file?.name.startsWith("s1")) return unreachable;
      await promise;
      return delivered;
    };
    await site.startQueue();
    await waitFor("the pause", async () => (await targetRow(site)).failures === 1);
    site.forgetTarget();
    site.queue.reload();
    await site.complete("S3");
    site.now += 5 * secondMs;
    site.queue.wake();
    await waitFor("the new target to have some", () => site.target().sent.length > 0);
    expect(old.closed).toBe(0);
    resolve();
    await site.pass(0);
    await waitFor("the old target to be closed", () => old.closed === 1);
    expect(await site.states()).toEqual(["delivered", "delivered", "delivered"]);
    expect(old.sent).toHaveLength(2);
  });

  test("that cannot be used is told once, and holds up no other target", async () => {
    const site = await DeliverySite.open({ targets: both });
    await site.complete("S1");
    let isBroken = true;
    const target = site.target("b");
    await site.startQueue({
      targets: ({ name }) => {
        if (name === "a" && isBroken) throw new Error("no such key file");
        return { target, timeoutMs: 1_000 };
      },
    });
    await site.pass(0);
    await site.complete("S2");
    await site.pass(0);
    expect(site.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(await site.states()).toEqual(["waiting", "delivered", "waiting", "delivered"]);
    isBroken = false;
    site.queue.reload();
    await waitFor("all to be delivered", async () =>
      (await site.states()).every((state) => state === "delivered"),
    );
  });
});
