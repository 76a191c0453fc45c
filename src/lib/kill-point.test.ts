import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seam } from "./kill-point.ts";

const source = (path: string) => JSON.stringify(join(import.meta.dirname, "..", path));

/** Writes three receipts, one of which shares a folder with another; then notes the boot of the machine. */
const work = `
import { writeReceiptDurably } from ${source("inbound/places/file-away.ts")};
import { openStore } from ${source("store/database/database.ts")};
import { noteBoot } from ${source("store/database/meta.ts")};
const folder = process.argv[1];
for (const name of ["a/1", "a/2", "b/3"]) writeReceiptDurably(folder + "/" + name, name);
const store = await openStore(folder);
await noteBoot(store, "this one", 1);
await store.close();
`;

const receiptSteps = ["create", "write", "rename"].map((kind) => `${kind}@file-away.writeReceipt`);
const syncStep = "fsync@file-away.syncFile";
const folderSteps = ["mkdir@file-away.makeDirectoryOf", syncStep];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "dropgate-steps-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(env: NodeJS.ProcessEnv): Promise<{ signal?: string; stderr?: string }> {
  const given = ["--input-type=module", "--disable-warning=ExperimentalWarning", "-e", work, folder];
  const running = promisify(execFile)(process.execPath, given, { env: { ...process.env, ...env } });
  return await running.catch((error: unknown) => error as { signal: string; stderr: string });
}

const written = () => ["a/1", "a/2", "b/3"].filter((name) => existsSync(join(folder, name)));

describe("the steps of a process", () => {
  it("are noted by kind, file and function of the caller, in their order and with their thread", async () => {
    const stepsFile = join(folder, "steps");
    expect((await run({ DROPGATE_STEPS_FILE: stepsFile })).stderr).toBe("");
    const lines = readFileSync(stepsFile, "utf8").trimEnd().split("\n");
    expect(new Set(lines.map((line) => line.replace(/^\d+\.(\d+) .*/, "$1")))).toEqual(new Set(["0"]));
    const steps = lines.map((line) => line.replace(/^\S+ /, ""));
    const oneReceipt = [...receiptSteps, syncStep, syncStep];
    const receipts = [...folderSteps, ...oneReceipt, ...oneReceipt, ...folderSteps, ...oneReceipt];
    expect(steps.slice(0, receipts.length)).toEqual(receipts);
    // The marker of the store is written by a function of `lib`: the caller is told.
    expect(steps).toContain("syncFolder@database.agreeOnInstance");
    expect(steps.slice(-3)).toEqual(["unit@meta.noteBoot", "commit@meta.noteBoot", "stop.store"]);
  });

  it("end the process with SIGKILL at the pass that is armed, and at no other", async () => {
    expect((await run({ DROPGATE_KILL_POINT: "rename@file-away.writeReceipt:2" })).signal).toBe("SIGKILL");
    expect(written()).toEqual(["a/1", "a/2"]);
  });

  it("end it at a kill point", async () => {
    expect((await run({ DROPGATE_KILL_POINT: "store.opened" })).signal).toBe("SIGKILL");
    expect(written()).toHaveLength(3);
    expect(existsSync(join(folder, "dropgate.instance"))).toBe(false);
  });

  it("are refused by a wrong name", async () => {
    for (const wrong of ["store.opend", "rename", "rename@a:0", "touch@file-away.writeReceipt"]) {
      const { stderr } = await run({ DROPGATE_KILL_POINT: wrong });
      expect(stderr).toContain(`DROPGATE_KILL_POINT=${wrong}: expected <step>[:<nth pass>]`);
      expect(written()).toEqual([]);
    }
  });

  it("cost nothing while nobody watches: a seam is the call itself", () => {
    const call = () => 1;
    expect(seam("write", call)).toBe(call);
  });
});
