import { expect, test } from "vitest";
import { virtualFolder } from "./client-tree.ts";

test("a folder that is on no disk is empty, closed to others, and of this second", () => {
  expect(virtualFolder(5_999)).toEqual({
    ...{ isDirectory: true, size: 0, mode: 0o750, modifiedSeconds: 5, accessedSeconds: 5 },
  });
});
