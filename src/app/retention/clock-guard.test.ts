import { join } from "node:path";
import { expect, test } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { writeMeta } from "../../store/database/meta.ts";
import { findPruneClock } from "../../store/database/prune-clock.ts";
import { confirmClock, lookAtClock } from "./clock-guard.ts";
import { dayMs } from "../../lib/durations.ts";

const start = Date.UTC(2026, 10, 5, 8);
const years = 365 * dayMs;

async function guarded() {
  const store = await openFreshStore(join(temporaryFolder(), "state"));
  let now = start;
  const clock = { now: () => now };
  return {
    store,
    look: (at: number) => {
      now = at;
      return lookAtClock({ store, clock });
    },
    confirm: () => confirmClock({ store, clock }),
  };
}

test("a clock that goes on, stands for a day or is set back by less than one is right", async () => {
  const { look } = await guarded();
  for (const at of [start, start + 1, start + 1 + dayMs, start + 1, start + 2 * dayMs])
    expect(await look(at)).toEqual({ kind: "right", now: at });
});

test("a clock that is more than a day ahead has jumped, however often it is looked at, until it is set back", async () => {
  const { store, look } = await guarded();
  await look(start);
  const jumped = { kind: "jumped", from: start };
  expect(await look(start + dayMs + 1)).toEqual({ ...jumped, to: start + dayMs + 1 });
  expect(await look(start + 10 * years)).toEqual({ ...jumped, to: start + 10 * years });
  expect(await look(start + 10 * years + 60_000)).toMatchObject(jumped);
  expect(await findPruneClock(store.read)).toEqual({
    ...{ latest: start, written: 0, jumpedTo: start + dayMs + 1 },
  });
  expect(await look(start + 60_000)).toEqual({ kind: "right", now: start + 60_000 });
  expect(await findPruneClock(store.read)).toEqual({ latest: start + 60_000, written: 0 });
});

test("a clock is right when somebody says so", async () => {
  const { look, confirm } = await guarded();
  await look(start);
  await look(start + 30 * dayMs);
  expect(await confirm()).toEqual({ latest: start, written: 0, jumpedTo: start + 30 * dayMs });
  expect(await look(start + 30 * dayMs + 1)).toMatchObject({ kind: "right" });
});

test("before the first look, a state of an earlier version knows when its daemon was last alive", async () => {
  const { store, look } = await guarded();
  await store.write("site", (tx) => writeMeta(tx, "alive_at", String(start)));
  expect(await look(start + 10 * years)).toMatchObject({ kind: "jumped", from: start });
});

test("a clock that was behind misdates nothing when nothing was written meanwhile", async () => {
  const { look } = await guarded();
  await look(start);
  expect(await look(start - 10 * years)).toMatchObject({ misdated: { from: start - 10 * years - dayMs } });
  expect(await look(start + 1)).toEqual({ kind: "right", now: start + 1 });
});

test("a clock that is behind, and right, misdates nothing any more", async () => {
  const { look, confirm } = await guarded();
  await look(start);
  await look(start - 10 * years);
  await confirm();
  expect(await look(start - 10 * years + 1)).toEqual({ kind: "right", now: start - 10 * years + 1 });
});
