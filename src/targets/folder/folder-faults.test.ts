import { expect, test } from "vitest";
import { folderFault } from "./folder-faults.ts";

test("what is no fault of a folder goes on as it is", () => {
  const bug = new TypeError("undefined is not a function");
  expect(() => folderFault(bug, "/share")).toThrow(bug);
});
