import { expect, test } from "vitest";
import { createAdaptiveSync } from "./adaptive-sync.ts";

/** A disk whose syncs take as long as said, on a clock that goes no further than they do. */
function diskOf(msOf: (call: number) => number) {
  let nowMs = 0;
  const calls: ("pool" | "spot")[] = [];
  const take = (where: "pool" | "spot") => {
    nowMs += msOf(calls.length);
    calls.push(where);
  };
  const disk = { fsync: async () => take("pool"), fsyncNow: () => take("spot") };
  return { calls, sync: createAdaptiveSync(disk, () => nowMs) };
}

async function times(count: number, call: () => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += 1) await call();
}

test("a disk that answers at once is asked on the spot, after it has shown that it does", async () => {
  const { calls, sync } = diskOf(() => 0.3);
  await times(40, () => sync(1));
  expect(calls.slice(0, 32)).toEqual(Array(32).fill("pool"));
  expect(calls.slice(32)).toEqual(Array(8).fill("spot"));
});

test("a disk that takes its time is never asked on the spot", async () => {
  const { calls, sync } = diskOf(() => 2);
  await times(200, () => sync(1));
  expect(calls).not.toContain("spot");
});

test("one slow sync ends it until the disk has shown again that it is quick", async () => {
  const { calls, sync } = diskOf((call) => (call === 35 ? 30 : 0.3));
  await times(80, () => sync(1));
  expect(calls[35]).toBe("spot");
  expect(calls.slice(36, 36 + 32)).toEqual(Array(32).fill("pool"));
  expect(calls.at(-1)).toBe("spot");
});

test("a disk that is quick half of the time is asked from the pool", async () => {
  const { calls, sync } = diskOf((call) => (call > 100 && call % 2 === 0 ? 2 : 0.3));
  await times(400, () => sync(1));
  expect(calls.slice(200)).not.toContain("spot");
});

test("nothing is synced on the spot while others wait for the disk", async () => {
  let answer = (): void => undefined;
  const calls: string[] = [];
  let isHeld = false;
  const sync = createAdaptiveSync(
    {
      fsync: () => {
        calls.push("pool");
        return isHeld ? new Promise((resolve) => (answer = resolve)) : Promise.resolve();
      },
      fsyncNow: () => void calls.push("spot"),
    },
    () => 0,
  );
  await times(31, () => sync(1));
  isHeld = true;
  const held = sync(1);
  const other = sync(1);
  expect(calls.at(-1)).toBe("pool");
  const answerOther = answer;
  answerOther();
  await other;
  expect(calls).not.toContain("spot");
  isHeld = false;
  void held;
});

test("a fault of either way is told", async () => {
  const broken = Object.assign(new Error("broken"), { code: "EIO" });
  let isBroken = false;
  const fail = () => {
    if (isBroken) throw broken;
  };
  const sync = createAdaptiveSync({ fsync: async () => fail(), fsyncNow: fail }, () => 0);
  isBroken = true;
  await expect(sync(1)).rejects.toBe(broken);
  isBroken = false;
  await times(40, () => sync(1));
  isBroken = true;
  await expect(sync(1)).rejects.toBe(broken);
});
