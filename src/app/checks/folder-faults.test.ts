import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { folderFaultLines } from "./folder-faults.ts";

test("a drop folder that is not there, or is none, is told with what to do; others are not", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "fine"));
  const searched = (path: string, isInbox = false) => ({ companyCode: "ACME", path, isInbox });
  const away = join(folder, "away");
  expect(
    await folderFaultLines([searched(join(folder, "fine")), searched(away, true), searched(away)]),
  ).toEqual([
    `Nothing is taken from ${away} (company ACME): ENOENT: make the folder, mount the share, or take it out of the configuration (companies.<CODE>.folders).`,
  ]);
});
