import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { changeIncarnation, readBootId } from "./incarnation.ts";

it("gives the process before this one when it was of this machine since its start, and no other", async () => {
  const nodeDir = join(temporaryFolder(), "nodes", "gate-1");
  expect(await changeIncarnation(nodeDir, "one", "boot-1")).toBeUndefined();
  expect(await changeIncarnation(nodeDir, "two", "boot-1")).toBe("one");
  // The machine has started again, or it is another one: that process may live.
  expect(await changeIncarnation(nodeDir, "three", "boot-2")).toBeUndefined();
  expect(await changeIncarnation(nodeDir, "four", "boot-2")).toBe("three");
  expect(await changeIncarnation(nodeDir, "five", "unknown")).toBeUndefined();
  expect(await changeIncarnation(nodeDir, "six", "unknown")).toBeUndefined();
});

it("takes no process for gone that an earlier version has noted without its machine", async () => {
  const nodeDir = temporaryFolder();
  writeFileSync(join(nodeDir, "dropgate.incarnation"), "one\n");
  expect(await changeIncarnation(nodeDir, "two", await readBootId())).toBeUndefined();
});
