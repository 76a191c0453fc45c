/**
 * On file systems that refuse what nodes rely on: by `bindfs`, which root may mount, and by `strace`, where that may trace; and
 * on one that another process sees otherwise.
 */
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { canFreezeTrees } from "../../../test/support/cluster-node.ts";
import { configOfNode } from "../../../test/support/lease-nodes.ts";
import {
  askPostgres,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../test/support/postgres-server.ts";
import { runProgram } from "../../../test/support/run-program.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { canTrace } from "../../../test/support/tracing.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { nodesFolderName } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import { sharedSettingsHash } from "../../config/shared-settings.ts";
import { serverNow } from "../../store/database/postgres/server-clock.ts";
import { treeTokenName } from "../daemon/tree-token.ts";
import type { CheckFinding } from "../watch/check-finding.ts";
import { checkSharedTree } from "./check-tree.ts";

const nowhere = "postgres://dropgate@127.0.0.1:1/dropgate";

function settingsFor(stateDir: string, url: string) {
  const file = join(temporaryFolder(), "url");
  writeFileSync(file, `${url}\n`, { mode: 0o600 });
  return { stateDir, store: `file:${file}` };
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

const problemsAmong = (findings: readonly CheckFinding[]) =>
  findings.filter(({ status }) => status === "problem").map(({ what }) => what);

/** Of a database that is not asked. */
async function problemsOf(stateDir: string): Promise<readonly string[]> {
  return problemsAmong(await checkSharedTree(await configOfNode(settingsFor(stateDir, nowhere)), false));
}

describe("the tree", () => {
  test("whose files can be linked, renamed, synced and locked has no problem", async () => {
    expect(await problemsOf(temporaryFolder())).toEqual([]);
  });

  test.runIf(canFreezeTrees)("that refuses renames cannot be shared, and the check says why", async () => {
    const refusing =
      /cannot be shared by nodes: a file that is written, synced and renamed gives EPERM instead of none$/;
    expect(await problemsOf(await mounted("--rename-deny"))).toEqual([
      expect.stringContaining("is on fuse"),
      expect.stringMatching(refusing),
    ]);
  });
});

/** Starts Node.js where another file system is at the folder of the last argument. */
function programElsewhere(): string {
  const path = join(temporaryFolder(), "node");
  const inside = `mount -t tmpfs none "$1" && shift && exec '${process.execPath}' "$@"`;
  writeFileSync(
    path,
    `#!/bin/sh\nfor last; do :; done\nexec unshare --mount sh -c '${inside.replaceAll("'", `'\\''`)}' - "$(dirname "$last")" "$@"\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

test.runIf(canFreezeTrees)("a tree whose locks keep no other process out cannot be shared", async () => {
  const { execPath } = process;
  onTestFinished(() => void Object.assign(process, { execPath }));
  process.execPath = programElsewhere();
  expect(await problemsOf(temporaryFolder())).toEqual([
    expect.stringMatching(
      /cannot be shared by nodes: a lock that another process has is taken instead of refused$/,
    ),
  ]);
});

const mayTrace = await canTrace();
const program = fileURLToPath(new URL("../../../test/support/check-tree-program.ts", import.meta.url));

/** The problems that the check finds where these calls of the system end so. */
async function problemsWhere(calls: string, end: string): Promise<readonly string[]> {
  const [folder, stateDir] = [temporaryFolder(), temporaryFolder()];
  const config = join(folder, "dropgate.yaml");
  writeFileSync(config, JSON.stringify(settingsFor(stateDir, nowhere)));
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${end}`];
  const traced = ["-f", "-qq", "-o", join(folder, "trace"), ...inject, process.execPath, program, config];
  const { exitCode, output } = await runProgram("strace", traced);
  expect(exitCode, output).toBe(0);
  return problemsAmong(JSON.parse(output.slice(output.indexOf("["))) as CheckFinding[]);
}

describe.runIf(mayTrace)("a tree cannot be shared", () => {
  test.each([
    ["that refuses links", "link,linkat", "error=EPERM", "a link gives EPERM instead of none"],
    ["whose files cannot be synced", "fsync,fdatasync", "error=EIO", "gives EIO instead of none"],
  ])("%s", async (_, calls, end, what) => {
    expect(await problemsWhere(calls, end)).toEqual([expect.stringContaining(what)]);
  });
});

describe.runIf(hasPostgres)("the nodes of the database", () => {
  let server: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** A node that was there so long ago, and its token in the tree. */
  async function addNode(
    { url, config }: { readonly url: string; readonly config: Config },
    name: string,
    given: { readonly silentMs?: number; readonly settings?: string; readonly hasToken?: boolean } = {},
  ): Promise<void> {
    const { silentMs = 0, settings = sharedSettingsHash(config), hasToken = true } = given;
    await askPostgres(
      url,
      `insert into nodes (name, incarnation, version, schema, address, settings, started_at, seen_at)
        values ('${name}', 'incarnation of ${name}', '0', 0, '{}', '${settings}', 0, ${serverNow} - ${silentMs})`,
    );
    const folder = join(config.stateDir, nodesFolderName, name);
    mkdirSync(folder, { recursive: true });
    if (hasToken) writeFileSync(join(folder, treeTokenName), `incarnation of ${name}\n`);
  }

  async function ground() {
    databases += 1;
    const url = await server.makeMigrated(`db_${databases}`);
    return { url, config: await configOfNode(settingsFor(temporaryFolder(), url)) };
  }

  const aboutNodes = (findings: readonly CheckFinding[]) =>
    findings.filter(({ what }) => /\bnodes\b.*gate-/.test(what)).map(({ status, what }) => [status, what]);

  test("with the same tree and configuration are named; those that have died are not", async () => {
    const given = await ground();
    await addNode(given, "gate-1");
    await addNode(given, "gate-2", { silentMs: 14_000 });
    await addNode(given, "gate-9", { silentMs: 16_000, settings: "other", hasToken: false });
    const found = await checkSharedTree(given.config, true);
    expect(aboutNodes(found).filter(([status]) => status === "ok")).toEqual([
      ["ok", "all nodes (gate-1, gate-2) have this state directory"],
      ["ok", "all nodes (gate-1, gate-2) have this configuration"],
    ]);
    expect(problemsAmong(found)).toEqual([]);
  });

  test("are looked at once more when one of them has just begun again", async () => {
    const given = await ground();
    await addNode(given, "gate-1", { hasToken: false });
    const found = checkSharedTree(given.config, true);
    await pause(500);
    await askPostgres(given.url, "update nodes set incarnation = 'newer'");
    const token = join(given.config.stateDir, nodesFolderName, "gate-1", treeTokenName);
    writeFileSync(token, "newer\n");
    expect(aboutNodes(await found)).toContainEqual(["ok", "all nodes (gate-1) have this state directory"]);
  });

  test("that have all died are not spoken of", async () => {
    const given = await ground();
    for (const name of ["gate-1", "gate-2"])
      await addNode(given, name, { silentMs: 86_400_000, settings: "other", hasToken: false });
    expect(aboutNodes(await checkSharedTree(given.config, true))).toEqual([]);
  });

  test("with another tree are a problem, and with another configuration a warning", async () => {
    const given = await ground();
    await addNode(given, "gate-1");
    await addNode(given, "gate-2", { hasToken: false });
    await addNode(given, "gate-3", { settings: "other" });
    const found = aboutNodes(await checkSharedTree(given.config, true));
    expect(found).toContainEqual([
      "problem",
      expect.stringMatching(/^what the nodes gate-2 have written is not in /),
    ]);
    expect(found).toContainEqual([
      "warning",
      "another configuration than this one is in force on the nodes gate-3",
    ]);
  });
});
