/** A death of the daemon at an act of the console: it leaves the act and its row in the audit, or neither. */
import { writeFile, rename } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ConsoleBrowser, makeConsoleSite, signInToConsole } from "../support/console.ts";
import type { Site } from "../support/daemon.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { filedAway, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

interface Row {
  readonly name: string;
  readonly state: string;
}

function rows<Found>(sql: string): readonly Found[] {
  const database = new BetterSqlite(join(site.stateDir, "dropgate.db"), { readonly: true });
  try {
    return database.prepare<[], Found>(sql).all();
  } finally {
    database.close();
  }
}

const files = () => rows<Row>("select name, state from files order by id");
const acts = () => rows<{ subject: string }>("select subject from audit where kind = 'file.retry'");

async function drop(name: string, content: string | Uint8Array): Promise<void> {
  const path = site.path("inbound", name);
  await writeFile(`${path}.part`, content);
  await rename(`${path}.part`, path);
  await waitFor("the file to be decided", () =>
    files().some((one) => one.name === name && one.state !== "waiting"),
  );
  await filedAway(site, name);
}

/** A newer file, and two older ones that come after it and are refused as superseded. */
async function dropLateFiles(): Promise<void> {
  await drop(stopFile("4711", { time: "090000" }).name, stopFile("4711").content);
  for (const time of ["070000", "080000"])
    await drop(stopFile("4711", { time }).name, stopFile("4711").content);
  expect(files().map(({ state }) => state)).toEqual(["applied", "superseded", "superseded"]);
}

/** References of the files on the page that can be chosen. */
async function chosen(browser: ConsoleBrowser): Promise<readonly string[]> {
  const { body } = await browser.get("/console/files?state=superseded");
  return [...body.matchAll(/name="of" value="([^"]+)"/g)].map(([, reference = ""]) => reference);
}

beforeEach(async () => {
  site = await makeConsoleSite({ inbound: { settleMs: 50 } });
  await site.start();
  await dropLateFiles();
});

afterEach(() => site.end());

describe("a death of the daemon at the act", () => {
  const cases = [
    { step: "unit@running-act.unit", what: "before its commit leaves neither the act nor its row", count: 0 },
    { step: "commit@running-act.unit", what: "after its commit leaves both, unanswered", count: 1 },
  ] as const;

  test.each(cases)("$what", async ({ step, count }) => {
    await site.stop();
    const run = await site.start({ env: { DROPGATE_KILL_POINT: step } });
    const admin = await signInToConsole(site, "admin");
    const [of = ""] = await chosen(admin);
    const form = { seenAt: String(Date.now()), reason: "the carrier is right now" };
    await expect(admin.post(`/console/files/${of}/retry`, form)).rejects.toThrow();
    await run.exit;
    expect(acts()).toHaveLength(count);
    expect(files().filter(({ state }) => state === "retry")).toHaveLength(count);
    const repeats = rows("select * from file_repeats");
    expect(repeats).toHaveLength(count);
    await site.start();
    await waitFor("what was asked for to be decided", () => files().every(({ state }) => state !== "retry"));
    expect(await runInProcess(site, "files", "--json")).toContain("superseded");
  });
});
