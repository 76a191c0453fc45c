/** On a file system that refuses what nodes rely on: by `bindfs`, which root may mount. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canFreezeTrees } from "../../../test/support/cluster-node.ts";
import { configOfNode } from "../../../test/support/lease-nodes.ts";
import { runProgram } from "../../../test/support/run-program.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { checkSharedTree } from "./check-tree.ts";

async function configFor(stateDir: string) {
  const url = join(temporaryFolder(), "url");
  writeFileSync(url, "postgres://dropgate@127.0.0.1:1/dropgate\n", { mode: 0o600 });
  return await configOfNode({ stateDir, store: `file:${url}` });
}

/** A folder on a file system of its own, with these options. */
async function mounted(...options: readonly string[]): Promise<string> {
  const [below, above] = ["below", "above"].map((name) => join(realpathSync(temporaryFolder()), name)) as [
    string,
    string,
  ];
  for (const folder of [below, above]) mkdirSync(folder);
  const { exitCode, output } = await runProgram("bindfs", [...options, below, above]);
  expect(exitCode, output).toBe(0);
  onTestFinished(async () => {
    const unmount = async () => (await runProgram("umount", ["-l", above])).exitCode === 0;
    await waitFor("the file system to be unmounted", unmount);
  });
  return above;
}

/** Of a database that is not asked. */
async function problemsOf(stateDir: string): Promise<readonly string[]> {
  const findings = await checkSharedTree(await configFor(stateDir), false);
  return findings.filter(({ status }) => status === "problem").map(({ what }) => what);
}

test("a tree whose files can be linked, renamed, synced and locked has no problem", async () => {
  expect(await problemsOf(temporaryFolder())).toEqual([]);
});

test.runIf(canFreezeTrees)(
  "a tree that refuses renames cannot be shared, and the check says why",
  async () => {
    const refusing =
      /cannot be shared by nodes: a file that is written, synced and renamed gives EPERM instead of none$/;
    expect(await problemsOf(await mounted("--rename-deny"))).toEqual([
      expect.stringContaining("is on fuse"),
      expect.stringMatching(refusing),
    ]);
  },
);
