import { execFileSync, spawn } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { createAdaptiveSync } from "./adaptive-sync.ts";
import { systemDisk } from "./durable-file.ts";
import { setShortCallsMayWait } from "./short-calls.ts";

afterEach(() => setShortCallsMayWait(false));

/** What opens it waits until somebody else does, for half a second. */
function slowFile(folder: string): { readonly path: string; readonly ended: Promise<unknown> } {
  const path = join(folder, "slow");
  execFileSync("mkfifo", [path]);
  const writer = spawn("sh", ["-c", 'sleep 0.5; : >"$0"', path], { stdio: "inherit" });
  return { path, ended: new Promise((resolve) => writer.on("exit", resolve)) };
}

async function turnsWhile(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 10);
  try {
    await work();
    return turns;
  } finally {
    clearInterval(timer);
  }
}

it("a call holds the process up where it never waits, and nothing where it may", async () => {
  for (const [mayWait, least] of [
    [false, 0],
    [true, 20],
  ] as const) {
    setShortCallsMayWait(mayWait);
    const { path, ended } = slowFile(temporaryFolder());
    const turns = await turnsWhile(async () =>
      systemDisk.close(await systemDisk.open(path, constants.O_RDONLY)),
    );
    expect(turns).toBeGreaterThanOrEqual(least);
    if (!mayWait) expect(turns).toBeLessThan(10);
    await ended;
  }
});

it("all calls do the same in both places, with the same faults", async () => {
  for (const mayWait of [false, true]) {
    setShortCallsMayWait(mayWait);
    const [one, two] = ["one", "two"].map((name) => join(temporaryFolder(), name)) as [string, string];
    const fd = await systemDisk.open(one, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    expect(await systemDisk.write(fd, Buffer.from("bytes"), 2)).toBe(5);
    expect(await systemDisk.fstat(fd)).toMatchObject({ size: 7, nlink: 1 });
    await systemDisk.link(one, two);
    expect(await systemDisk.fstat(fd)).toMatchObject({ nlink: 2 });
    await expect(systemDisk.link(one, two)).rejects.toMatchObject({ code: "EEXIST" });
    await systemDisk.unlink(one);
    await expect(systemDisk.unlink(one)).rejects.toMatchObject({ code: "ENOENT" });
    await systemDisk.close(fd);
    await expect(systemDisk.fstat(fd)).rejects.toMatchObject({ code: "EBADF" });
    await expect(systemDisk.open(one, constants.O_RDONLY)).rejects.toMatchObject({ code: "ENOENT" });
    expect([existsSync(one), existsSync(two)]).toEqual([false, true]);
  }
});

it("syncs are made in the pool where they may wait, however quick the last ones were", async () => {
  const places: string[] = [];
  const disk = {
    fsync: async () => void places.push("pool"),
    fsyncNow: () => void places.push("here"),
  };
  const sync = createAdaptiveSync(disk, () => 0);
  for (let times = 0; times < 40; times += 1) await sync(1);
  expect(places.at(-1)).toBe("here");
  setShortCallsMayWait(true);
  await sync(1);
  expect(places.at(-1)).toBe("pool");
});
