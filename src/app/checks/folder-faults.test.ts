import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { probeDropFolders } from "./folder-faults.ts";
import { type ProbeFolders, probeFolders } from "./folder-probe.ts";

const searched = (path: string, isInbox = false) => ({ companyCode: "ACME", path, isInbox });

test("a drop folder that is not there, or is none, is told with what to do; others are not", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "fine"));
  writeFileSync(join(folder, "file"), "");
  const [fine, away, file] = ["fine", "away", "file"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const all = [searched(fine), searched(away, true), searched(away), searched(file)];
  const remedy =
    "make the folder, mount the share, or take it out of the configuration (companies.<CODE>.folders)";
  expect(await probeDropFolders(all)).toEqual({
    answering: all,
    faultLines: [
      `Nothing is taken from ${away} (company ACME): ENOENT: ${remedy}.`,
      `Nothing is taken from ${file} (company ACME): it is not a folder: ${remedy}.`,
    ],
  });
});

test("a drop folder that does not answer is told, and is not searched", async () => {
  const folder = temporaryFolder();
  const probe: ProbeFolders = async (folders) => {
    const found = await probeFolders(folders);
    return folders.map(({ path }, place) =>
      path.startsWith("/dead/") ? { kind: "silent" } : (found[place] ?? { kind: "silent" }),
    );
  };
  const all = [searched("/dead/in", true), searched(folder), searched("/dead/in")];
  expect(await probeDropFolders(all, probe)).toEqual({
    answering: all.slice(0, 2),
    faultLines: [
      "Nothing is taken from /dead/in (company ACME): it does not answer within 10 seconds, so it is not searched: check that the server of the share runs, or mount it again.",
    ],
  });
});
