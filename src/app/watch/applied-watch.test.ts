import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { openStore } from "../../store/database/database.ts";
import { readLastApplied } from "../../store/ledger/last-applied.ts";
import { startAppliedWatch } from "./applied-watch.ts";

async function ground() {
  const store = await openStore(temporaryFolder());
  onTestFinished(() => store.close());
  const log = createLogger({ level: "silent" });
  const watch = (applied: ReadonlyMap<number, number>) =>
    startAppliedWatch({ store, log, lastAppliedAt: () => applied, everyMs: 1 });
  return { store, watch };
}

test("the times of one run are known to the next, and newer ones take their place", async () => {
  const { store, watch } = await ground();
  const first = watch(
    new Map([
      [1, 100],
      [2, 200],
    ]),
  );
  await waitFor("the times in the store", async () => (await readLastApplied(store.read)).size === 2);
  await first.stop();
  const second = watch(new Map([[2, 300]]));
  await waitFor("the times of the first run", () => second.lastAppliedAt().size === 2);
  expect([...second.lastAppliedAt()]).toEqual([
    [1, 100],
    [2, 300],
  ]);
  await second.stop();
  expect([...(await readLastApplied(store.read))]).toEqual([
    [1, 100],
    [2, 300],
  ]);
});

test("a node shows what another one has applied later, and writes nothing of it", async () => {
  const { store, watch } = await ground();
  const [own, others] = [new Map([[1, 100]]), new Map<number, number>()];
  const one = watch(own);
  const other = watch(others);
  await waitFor("both to know the first", () => other.lastAppliedAt().get(1) === 100);
  others.set(1, 200);
  await waitFor("both to know the second", () => one.lastAppliedAt().get(1) === 200);
  const before = store.commits.units;
  for (const watching of [one, other]) await watching.stop();
  expect(store.commits.units).toBe(before);
  expect(await readLastApplied(store.read)).toEqual(others);
});

test("nothing is written while no file is applied", async () => {
  const { store, watch } = await ground();
  const before = store.commits.units;
  const idle = watch(new Map());
  await idle.stop();
  expect(store.commits.units).toBe(before);
});
