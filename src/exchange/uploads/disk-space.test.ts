import { beforeEach, describe, expect, test } from "vitest";
import { createDiskSpace } from "./disk-space.ts";

let free = 0;
let looks = 0;
let now = 5_000;

beforeEach(() => {
  [free, looks, now] = [0, 0, 5_000];
});

/** Of a disk of 10,000 blocks of 1 MB. */
function space(minFreeBytes: (diskBytes: number) => number) {
  const statfs = async () => {
    looks += 1;
    const files = { files: 70, ffree: 60 };
    return { type: 1, bsize: 1_000_000, blocks: 10_000, bfree: free + 5, bavail: free, ...files };
  };
  return createDiskSpace({ directory: "/srv", minFreeBytes, disk: { statfs }, clock: { now: () => now } });
}

describe("the space of a disk", () => {
  test("is enough with just as much as must stay, of what others than root may use", async () => {
    free = 100;
    await space((diskBytes) => diskBytes / 100).assertEnough();
    free = 99;
    await expect(space((diskBytes) => diskBytes / 100).assertEnough()).rejects.toMatchObject({
      ...{ kind: "noSpace", message: "The server's disk has less than 100 MB free; try again later" },
    });
  });

  test.each([
    [1, "1 MB"],
    [1_500_000, "2 MB"],
    [999_000_000, "999 MB"],
    [1e9, "1.0 GB"],
    [2.55e9, "2.5 GB"],
  ])("is told in units that people use: %d as %s", async (bytes, text) => {
    await expect(space(() => bytes).assertEnough()).rejects.toMatchObject({
      message: `The server's disk has less than ${text} free; try again later`,
    });
  });

  test("is asked once while there is no answer, however long that takes", async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const statfs = async () => {
      looks += 1;
      await held;
      return { type: 1, bsize: 1, blocks: 10, bfree: 5, bavail: 5, files: 7, ffree: 6, frsize: 1 };
    };
    const clock = { now: () => now };
    const hanging = createDiskSpace({ directory: "/srv", minFreeBytes: () => 0, disk: { statfs }, clock });
    const asked = [hanging.room()];
    now += 60_000;
    asked.push(hanging.room());
    expect(looks).toBe(1);
    answer();
    for (const room of await Promise.all(asked)) expect(room.freeBytes).toBe(5);
    await hanging.room();
    expect(looks).toBe(2);
  });

  test("is told to clients as the disk tells it", async () => {
    free = 100;
    expect(await space(() => 0).statistics()).toEqual({
      ...{ blockSize: 1_000_000, blocks: 10_000, blocksFree: 105, blocksAvailable: 100 },
      ...{ files: 70, filesFree: 60, isReadOnly: false },
    });
  });

  test("is looked at once a second, also when the clock was set back", async () => {
    const disk = space(() => 0);
    for (const later of [0, 999, 1_000, 1_999, -1_000]) {
      now = 5_000 + later;
      await disk.assertEnough();
    }
    expect(looks).toBe(3);
  });
});
