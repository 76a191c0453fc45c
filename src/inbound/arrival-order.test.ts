import { expect, test } from "vitest";
import { ArrivalOrder } from "./present-files.ts";

test("files of an earlier run come after those of the ledger and before those of this run, whenever they are found", () => {
  const order = new ArrivalOrder({ now: () => 0 });
  order.noteEntry({ id: 9, receivedAt: 5 });
  order.noteEntry({ id: 4, receivedAt: 7 });
  order.recovered();
  const [first, found, second, last] = [
    order.next("sftp"),
    order.next("recovered"),
    order.next("folder"),
    order.next("recovered"),
  ];
  expect([found, last]).toEqual([10, 11]);
  expect(first).toBe(9 + 2 ** 24 + 1);
  expect(second).toBe(first + 1);
});

test("a file came when it says so, or now, and never before one that came earlier", () => {
  let now = 100;
  const order = new ArrivalOrder({ now: () => now });
  expect(order.receivedAtOf({ receivedAt: 42.9 })).toBe(42);
  expect(order.receivedAtOf({})).toBe(100);
  order.noteEntry({ id: 1, receivedAt: 250 });
  order.noteEntry({ id: 2, receivedAt: 200 });
  expect(order.receivedAtOf({})).toBe(250);
  now = 300;
  expect(order.receivedAtOf({})).toBe(300);
  // The clock was set back.
  now = 100;
  expect(order.receivedAtOf({})).toBe(300);
});
