import { constants, readdirSync, readFileSync } from "node:fs";
import { stat, statfs, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { patienceMs, waitFor } from "../../../test/support/wait-for.ts";
import { loadConfig } from "../../config/load-config.ts";
import { checkCompanyFolders } from "./check-folders.ts";
import { checkOutbound } from "./check-outbound.ts";
import { checkMoveTo } from "./check-retention.ts";
import { findPlaces } from "./filled-disks.ts";
import { createFolderProbe, createFolderProbes, probeFolder, probeFolders } from "./folder-probe.ts";

const rights = constants.R_OK | constants.W_OK | constants.X_OK;

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

/** Whether a process is there whose command names the file. */
function isRun(file: string): boolean {
  const commandOf = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && commandOf(name).includes(file));
}

describe("a folder that is looked at", () => {
  test("is usable, with the number of its file system and the room on it", async () => {
    const { dev } = await stat(folder);
    const { blocks, bsize } = await statfs(folder);
    const found = await probeFolder({ path: folder, rights });
    expect(found).toEqual({ kind: "usable", dev, freeBytes: expect.any(Number), isMountPoint: false });
    const { freeBytes } = found as { freeBytes: number };
    expect(freeBytes).toBeGreaterThan(0);
    expect(freeBytes).toBeLessThanOrEqual(blocks * bsize);
  });

  test("is not there, is none, or cannot be looked at", async () => {
    await writeFile(join(folder, "file"), "");
    await symlink("loop", join(folder, "loop"));
    const found = (name: string) => probeFolder({ path: join(folder, name), rights });
    expect([await found("none"), await found("file"), await found("loop")]).toEqual([
      { kind: "failed", code: "ENOENT" },
      { kind: "notAFolder" },
      { kind: "failed", code: "ELOOP" },
    ]);
  });

  test("is refused", async () => {
    const path = "/proc/1";
    expect(await probeFolder({ path, rights })).toMatchObject({ kind: "refused" });
  });

  test("is silent when there is no answer in time, and the process that asked is ended", async () => {
    const file = join(folder, "hangs.mjs");
    await writeFile(file, "setInterval(() => undefined, 1_000);");
    const probe = createFolderProbe({ timeoutMs: 1_500, file });
    const probed = probe({ path: folder, rights });
    expect(isRun(file)).toBe(true);
    expect(await probed).toEqual({ kind: "silent" });
    await waitFor("the end of the process", () => !isRun(file));
  });
});

test("of several folders those that answer are told, also when the process that asks does not get to its end", async () => {
  const file = join(folder, "breaks.mjs");
  const usable = { kind: "usable", dev: 1, freeBytes: 1, isMountPoint: false };
  const output = `${JSON.stringify({ place: 1, found: usable })}\n{"place":0,"fo`;
  await writeFile(file, `process.stdout.write(${JSON.stringify(output)}); process.exitCode = 1;`);
  const probes = createFolderProbes({ timeoutMs: patienceMs, file });
  const both = [
    { path: "/dead", rights },
    { path: folder, rights },
  ];
  const broken = { kind: "failed", code: expect.stringContaining("breaks.mjs") };
  expect(await probes(both)).toEqual([broken, usable]);
  const found = await probeFolders([
    { path: folder, rights },
    { path: "/dead/none", rights },
  ]);
  expect(found).toMatchObject([{ kind: "usable" }, { kind: "failed", code: "ENOENT" }]);
  expect(await probeFolders([])).toEqual([]);
});

test("check tells of dead shares, and looks at the others all the same", async () => {
  const stateDir = temporaryFolder();
  const path = join(stateDir, "dropgate.yaml");
  const settings = {
    folders: [{ path: "/dead/in" }, { path: folder }],
    outbound: { targets: { erp: { type: "folder", path: "/dead/out" } } },
  };
  const retention = { archive: 1, moveTo: "/dead/old" };
  await writeFile(path, JSON.stringify({ stateDir, retention, companies: { ACME: settings } }));
  const loaded = await loadConfig({ path, env: {}, cwd: stateDir });
  if (loaded.kind === "faulty") throw new Error("the configuration of the test is faulty");
  const probe: typeof probeFolder = async (asked) =>
    asked.path.startsWith("/dead/") ? { kind: "silent" } : await probeFolder(asked);
  expect([
    ...(await checkCompanyFolders(loaded.config, undefined, probe)),
    ...(await checkOutbound(loaded.config, ["ACME"], { isRemote: false, probe })),
    ...(await checkMoveTo(loaded.config, probe)),
  ]).toEqual([
    {
      status: "warning",
      what: "the drop folder /dead/in of company ACME does not answer within 10 seconds",
      remedy: "check that the server of the share runs, or mount it again",
    },
    { status: "ok", what: `the drop folder ${folder} of company ACME can be written` },
    {
      status: "warning",
      what: "the target erp of ACME: /dead/out does not answer within 10 seconds",
      remedy: "check that the server of the share runs, or mount it again; until then files wait",
    },
    {
      status: "warning",
      what: "the folder that old files are moved to, /dead/old (retention.moveTo), does not answer within 10 seconds",
      remedy: "check that its server runs, or mount it again; until then old files stay where they are",
    },
  ]);
});

test("the room of a disk comes from the process that asks the folder, and of one that is silent nothing is told", async () => {
  const stateDir = temporaryFolder();
  const path = join(stateDir, "dropgate.yaml");
  const targets = {
    near: { type: "folder", path: "/asked/near" },
    dead: { type: "folder", path: "/dead/out" },
    own: { type: "folder" },
  };
  const settings = { stateDir, retention: { archive: 1, moveTo: "/asked/old" } };
  await writeFile(path, JSON.stringify({ ...settings, companies: { ACME: { outbound: { targets } } } }));
  const loaded = await loadConfig({ path, env: {}, cwd: stateDir });
  if (loaded.kind === "faulty") throw new Error("the configuration of the test is faulty");
  const found = await findPlaces(
    { config: loaded.config, targets: Object.keys(targets).map((name) => ({ companyCode: "ACME", name })) },
    async ({ path: asked }) =>
      asked.startsWith("/dead/")
        ? { kind: "silent" }
        : { kind: "usable", dev: 7, freeBytes: 1_000, isMountPoint: false },
  );
  expect(found.state.dev).toBe((await stat(stateDir)).dev);
  expect([...found.others]).toEqual([
    ["/asked/near", { dev: 7, room: 1_000 }],
    ["/asked/old", { dev: 7, room: 1_000 }],
  ]);
});
