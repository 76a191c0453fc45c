/** Passes of retention in a daemon, which has other work to do (docs/retention.md#see-what-would-go). */
import { expect, test } from "vitest";
import { withPruneLock } from "../../src/app/retention/prune-lock.ts";
import { createRetention } from "../../src/app/retention/retention.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { a, b, configOf, filed, fixture, isThere, seal, start } from "../support/aging-files.ts";
import { dayMs } from "../../src/lib/durations.ts";

const late = start + 100 * dayMs;

async function running(timeUp?: () => AbortSignal) {
  const config = await configOf({ archive: 30, error: 30 });
  const told: string[] = [];
  const { store, locations } = fixture;
  const retention = createRetention({
    ...{ store, locations, ledgerNumbers: { seal }, clock: { now: () => late }, config: () => config },
    ...(timeUp === undefined ? {} : { timeUp }),
    log: createLogger({ level: "info", destination: { write: (line) => void told.push(line) } }),
  });
  return { told, prune: () => retention.prune(late, new AbortController().signal) };
}

test("a kind whose time is up goes on in the next round, and so do the kinds after it", async () => {
  const { location } = await filed(a);
  const hurried = await running(() => AbortSignal.abort());
  expect(await hurried.prune()).toBe(false);
  expect(isThere(location)).toBe(true);
  const told = hurried.told.join("\n");
  for (const kind of ["archive", "error"]) expect(told).toContain(`"kind":"${kind}"`);
  const { prune } = await running();
  expect(await prune()).toBe(true);
  expect(isThere(location)).toBe(false);
});

test("a kind that fails is told, does not stop the kinds after it, and is tried again", async () => {
  const applied = await filed(a);
  const refused = await filed(b, { state: "refused" });
  const { store } = fixture;
  await store.write("site", (tx) => tx.schema.alterTable("imports").renameTo("imports_away").execute());
  const { told, prune } = await running();
  expect(await prune()).toBe(false);
  expect(told.join("\n")).toContain("what is too old cannot be removed; trying again later");
  expect([isThere(applied.location), isThere(refused.location)]).toEqual([false, false]);
  await store.write("site", (tx) => tx.schema.alterTable("imports_away").renameTo("imports").execute());
  expect(await prune()).toBe(true);
});

test("while another process removes what is too old, a pass says that it comes later", async () => {
  const { location } = await filed(a);
  const { told, prune } = await running();
  const isDone = await withPruneLock(fixture.stateDir, prune);
  expect([isDone, isThere(location)]).toEqual([false, true]);
  expect(told.map((line) => (JSON.parse(line) as { level: unknown }).level)).toHaveLength(1);
  expect(told.join()).toContain("what is too old is removed in the next round");
  expect([await prune(), isThere(location)]).toEqual([true, false]);
});
