import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Secret } from "../../config/reader/secret.ts";
import type { Config } from "../../config/schema.ts";
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { DropgateError } from "../../lib/errors.ts";
import { createSealedNumbers, newSealingKey } from "../../lib/sealed-numbers.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { openStore, type Store } from "../../store/database/database.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { storeUrlOf } from "../../../test/support/store-url.ts";
import { QueryHost, type QueryLimits } from "./query-host.ts";

const scope = { companies: [{ id: 1, code: "ACME" }], isOperator: false };
const file = siblingModule("./testing/troubled-worker", import.meta.url);
const numberKey = newSealingKey();
const never = new AbortController().signal;

let stateDir = "";
let store: Store;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-queries-"));
  store = await openStore(stateDir);
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
});
afterAll(async () => {
  await store.close();
  await rm(stateDir, { recursive: true });
});

function hostWith(limits: Partial<QueryLimits> = {}, config: object = { log: { level: "info" } }) {
  const patience = { deadlineMs: 20_000, waitMs: 60_000, pongMs: 20_000, longestMs: 60_000 };
  const options = {
    stateDir,
    url: storeUrlOf(stateDir),
    numberKey,
    file,
    limits: { ...patience, ...limits },
  };
  const host = new QueryHost({ ...options, config: config as Config });
  onTestFinished(() => host.stop(never));
  const ask = (name: string, asked?: unknown) => host.askFor({ name, scope, asked });
  return { host, ask };
}

/** The message of the refusal as overloaded. */
async function refusalOf(answer: Promise<unknown>): Promise<string> {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DropgateError)) throw new Error(`no refusal: ${String(error)}`);
  expect(error.code).toBe("overloaded");
  return error.message;
}

/** Asks until there is an answer: a machine that is busy is late as well. */
async function companiesOf(ask: ReturnType<typeof hostWith>["ask"]): Promise<void> {
  await expect.poll(() => ask("companies").catch(() => []), { timeout: 30_000 }).toEqual([{ code: "ACME" }]);
}

describe("a query", () => {
  test("gets the state, the configuration without its secrets, and the scope of the one who asks", async () => {
    const { host, ask } = hostWith({ deadlineMs: 5_000 }, { http: { tls: { passphrase: new Secret("x") } } });
    const found = await ask("context", { name: "a*" });
    const sealed = createSealedNumbers(numberKey, ledgerNumberKind).seal(1);
    expect(found).toMatchObject({ stateDir, sealed, scope, asked: { name: "a*" } });
    expect(found).toMatchObject({ config: { http: { tls: { passphrase: undefined } } } });
    expect((found as { timeLeftMs: number }).timeLeftMs).toBeLessThanOrEqual(5_000);
    host.configure({ log: { level: "debug" } } as Config);
    expect(await ask("context")).toMatchObject({ config: { log: { level: "debug" } } });
  });

  test("reads what was committed, and cannot write", async () => {
    const { ask } = hostWith();
    expect(await ask("companies")).toEqual([{ code: "ACME" }]);
    await expect(ask("write")).rejects.toThrow(/read-?only/);
  });

  test("is refused with the code and the message of its function, and fails with its error", async () => {
    const { ask } = hostWith();
    const refusal = await ask("refuse").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DropgateError);
    expect(refusal).toMatchObject({
      code: "missing",
      faults: [{ code: "missing", message: "what: give it" }],
    });
    const failure = await ask("fail").catch((error: unknown) => error);
    expect(failure).not.toBeInstanceOf(DropgateError);
    expect(failure).toMatchObject({ message: "it broke", stack: expect.stringContaining("troubled-worker") });
    await expect(ask("nothing")).rejects.toThrow("there is no query nothing");
  });

  test("that waits for files holds up no others, and is late without a fault of the thread", async () => {
    const { ask } = hostWith({ deadlineMs: 50 });
    const late = ask("rest", 1_000);
    expect(await ask("rest", 1)).toBe("rested");
    expect(await late).toBe("rested");
  });

  test("that is late for too long is refused, and does not cost the thread", async () => {
    const { ask } = hostWith({ deadlineMs: 50, longestMs: 3_000 });
    expect(await refusalOf(ask("rest", 60_000))).toMatch(/took too long: try again .* narrow a search/);
    expect(await ask("companies")).toEqual([{ code: "ACME" }]);
  });

  test("is not late for what it has waited for others before", async () => {
    const { ask } = hostWith({ maxInHand: 1, deadlineMs: 6_000, longestMs: 6_000 });
    const all = Array.from({ length: 25 }, () => ask("rest", 300));
    expect(await Promise.all(all)).toEqual(all.map(() => "rested"));
  });

  test("that is not begun in time is refused, as too much is asked for", async () => {
    const { ask } = hostWith({ maxInHand: 1, waitMs: 5_000 });
    await companiesOf(ask);
    const first = ask("rest", 6_000);
    expect(await refusalOf(ask("companies"))).toMatch(/too much is looked up .* try again/);
    expect(await first).toBe("rested");
  });

  test("gets its turn between the statements of another", async () => {
    const { ask } = hostWith();
    await ask("companies");
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([ask("search", 2_000).then(note("search")), ask("companies").then(note("companies"))]);
    expect(order).toEqual(["companies", "search"]);
  });

  test("is refused when as many wait as may", async () => {
    const { ask } = hostWith({ maxInHand: 1, maxWaiting: 1 });
    const [first, second] = [ask("rest", 50), ask("rest", 50)];
    expect(await refusalOf(ask("companies"))).toMatch(/too much is looked up .* try again/);
    expect(await Promise.all([first, second])).toEqual(["rested", "rested"]);
  });
});

describe("a thread", () => {
  test("that hangs is replaced: its query is refused, and those behind it are answered", async () => {
    const { ask } = hostWith({ deadlineMs: 300, pongMs: 6_000 });
    await ask("companies");
    const [stuck, beside] = [refusalOf(ask("spin")), ask("companies")];
    expect(await stuck).toMatch(/narrow a search/);
    expect(await beside).toEqual([{ code: "ACME" }]);
  });

  // The thread waits for a call of SQLite, and for no answer of a server.
  itOnSqlite("that is stuck in the database is replaced as soon as its call returns", async () => {
    const { ask } = hostWith({ deadlineMs: 300, pongMs: 50 });
    await companiesOf(ask);
    expect(await refusalOf(ask("count", 5_000_000))).toMatch(/narrow a search/);
    await companiesOf(ask);
  });

  test("that needs too much memory refuses its query, and the next one gets another thread", async () => {
    const { ask } = hostWith({ maxHeapMb: 48 });
    expect(await refusalOf(ask("hoard"))).toMatch(/too much memory: narrow the search/);
    expect(await ask("companies")).toEqual([{ code: "ACME" }]);
  });

  test("that crashes fails its query, and the next one gets another thread", async () => {
    const { ask } = hostWith();
    await expect(ask("crash")).rejects.toThrow("thread of the console's queries failed: it crashed");
    expect(await ask("companies")).toEqual([{ code: "ACME" }]);
  });
});

describe("a stop", () => {
  test("refuses what is under way and all that is asked later, and ends the thread", async () => {
    const { host, ask } = hostWith({ maxInHand: 1 });
    await ask("companies");
    const refused = [ask("rest", 60_000), ask("companies")].map(refusalOf);
    await host.stop(never);
    for (const message of await Promise.all(refused)) expect(message).toMatch(/stopping/);
    expect(await refusalOf(ask("companies"))).toMatch(/stopping/);
  });

  test("of a thread that never began is done at once", async () => {
    const { host } = hostWith();
    await host.stop(never);
  });

  test("waits for a call to the database no longer than its deadline", async () => {
    const { host, ask } = hostWith();
    await ask("companies");
    const refused = refusalOf(ask("count", 20_000_000));
    await host.stop(AbortSignal.timeout(50));
    expect(await refused).toMatch(/stopping/);
  });
});
