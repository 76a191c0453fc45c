import { expect, test } from "vitest";
import { restOf, type StuckFiles } from "./pruning.ts";

const fault = (code: string) => Object.assign(new Error(code), { code });
const files = (...ids: readonly number[]) => ids.map((id) => ({ id }));
const failuresOf = (ids: readonly number[], code = "EISDIR") =>
  ids.map((fileId) => ({ fileId, error: fault(code) }));
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("a file that fails by a fault of its disk ends a pass once, not again until it has gone or was there for another reason", () => {
  const stuck: StuckFiles = new Map();
  const step = (failing: readonly number[]) =>
    restOf({ stuck }, "archive", {
      ...{ files: files(1, 2), failures: failuresOf(failing, "EIO"), count: 2 - failing.length, stayed: 0 },
    });
  expect([step([1]), step([1]), step([1, 2]), step([]), step([1])]).toEqual([
    ...["failed", "stayed", "failed", "none", "failed"],
  ]);
});

test("twenty that fail for the first time end a pass when none goes; known ones and those of another kind do not count", () => {
  const stuck: StuckFiles = new Map();
  const step = (kind: "archive" | "error", ids: readonly number[], count = 0) =>
    restOf({ stuck }, kind, { files: files(...ids), failures: failuresOf(ids), count, stayed: 0 });
  expect(step("archive", numbers(1, 19))).toBe("stayed");
  expect(step("archive", numbers(1, 38))).toBe("stayed");
  expect(step("archive", numbers(1, 58))).toBe("failed");
  expect(step("archive", numbers(1, 58))).toBe("stayed");
  expect(step("error", numbers(1, 20))).toBe("failed");
  expect(step("error", numbers(30, 60), 1)).toBe("stayed");
});

test("a fault of no one file is never a known one, and nothing is known where nothing is kept", () => {
  const whole = {
    files: files(1),
    failures: [{ fileId: undefined, error: fault("EIO") }],
    count: 0,
    stayed: 0,
  };
  const stuck: StuckFiles = new Map();
  expect([1, 2].map(() => restOf({ stuck }, "receipts", whole))).toEqual(["failed", "failed"]);
  const one = { files: files(1), failures: failuresOf([1], "EIO"), count: 0, stayed: 0 };
  expect([1, 2].map(() => restOf({}, "receipts", one))).toEqual(["failed", "failed"]);
  expect(restOf({}, "archive", { files: files(1), failures: [], count: 0, stayed: 1 })).toBe("stayed");
});
