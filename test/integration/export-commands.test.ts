/** `dropgate deliveries`, `delivery` and `export` over a real state directory, without a daemon. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { saveOutboundSettings } from "../../src/app/daemon/outbound-settings.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { recordAttempts } from "../../src/outbound/record-attempts.ts";
import { pruneExportDeliveries } from "../../src/outbound/prune-deliveries.ts";
import { listOutboundTargets, saveTargetPause } from "../../src/store/outbound/outbound-targets.ts";
import { recordEvents } from "../../src/operations/consequences/record-events.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder = "";
let store: Store;

const twoExports = `companies:
  ACME:
    outbound:
      targets:
        outbound: {type: folder}
        share: {type: folder, path: share, completions: none}
      exports:
        nightly: {schedule: 30 2 * * *, zone: Europe/Berlin}
        weekly: {schedule: 0 3 * * MON, form: files, target: share}
`;

async function configure(yaml: string): Promise<Config> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, `stateDir: state\n${yaml}`);
  const loaded = await loadConfig({ path, env: {}, cwd: folder });
  if (loaded.kind === "faulty") throw new Error(formatConfigFaults(loaded.faults));
  return loaded.config;
}

async function run(...args: readonly string[]): Promise<Ran> {
  let [stdout, stderr] = ["", ""];
  const io = {
    ...{ env: {}, cwd: folder },
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  };
  const code = await runCli([...args, "--config", join(folder, "dropgate.yaml")], io);
  return { code, stdout, stderr };
}

async function json(...args: readonly string[]) {
  const { stdout } = await run(...args, "--json");
  return JSON.parse(stdout);
}

async function addCompany(code: string): Promise<number> {
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  return company.id;
}

async function complete(companyId: number, ...stopNbrs: readonly string[]): Promise<void> {
  await store.write("site", async (tx) => {
    for (const stopNbr of stopNbrs) {
      await tx
        .insertInto("stops")
        .values({
          ...{ company_id: companyId, stop_nbr: stopNbr, stop_nbr_key: stopNbr.toLowerCase() },
          ...{ stop_status: "90", receive_status: "00", body: JSON.stringify({ stopNbr }) },
          ...{ execution: "{}", created_at: 1, updated_at: 1 },
        })
        .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doNothing())
        .execute();
      await recordEvents(tx, [
        { companyId, kind: "stopDelivery", stopNbr, recordedAt: Date.UTC(2026, 10, 5) },
      ]);
    }
  });
}

/** Makes a delivery a dead letter, as the queue does. */
async function kill(...ids: readonly number[]): Promise<void> {
  const fault = { fault: "credentials", faultText: "the server refuses the password: correct it" };
  const records = ids.map((id) => ({ id, kind: "dead", at: 5, durationMs: 7, ...fault }) as const);
  await store.write("site", (tx) => recordAttempts(tx, { records, pauses: [], now: 12 }));
}

async function deliver(id: number): Promise<void> {
  const record = { id, kind: "delivered", at: 5, durationMs: 7, sha256: "ab", size: 3 } as const;
  await store.write("site", (tx) => recordAttempts(tx, { records: [record], pauses: [], now: 12 }));
}

beforeEach(async () => {
  folder = temporaryFolder();
  mkdirSync(join(folder, "state"));
  store = await openStore(join(folder, "state"));
  onTestFinished(() => store.close());
});

async function acme(yaml = ""): Promise<number> {
  const id = await addCompany("ACME");
  await saveOutboundSettings(store, await configure(yaml));
  return id;
}

describe("dropgate deliveries", () => {
  test("says so when there is none", async () => {
    await acme();
    expect(await run("deliveries")).toEqual({ code: 0, stdout: "There is no such delivery.\n", stderr: "" });
  });

  test("needs none of the secrets of the service, which check does", async () => {
    await acme();
    const target = "{type: https, url: 'https://127.0.0.1:1/', user: u, password: 'env:TMS'}";
    const yaml = `stateDir: state\ncompanies: {ACME: {outbound: {targets: {t: ${target}}}}}`;
    writeFileSync(join(folder, "dropgate.yaml"), yaml);
    expect(await run("deliveries")).toMatchObject({ code: 0, stdout: "There is no such delivery.\n" });
    const { code, stdout } = await run("check");
    expect([code, stdout]).toEqual([2, expect.stringContaining("the environment variable TMS is not set")]);
  });

  test("shows what waits and what is behind, the newest first, and narrows by each option", async () => {
    const acmeId = await acme();
    const other = await addCompany("OTHER");
    await saveOutboundSettings(store, await configure(""));
    await complete(acmeId, "1", "1", "2");
    await complete(other, "1");
    const { stdout, code } = await run("deliveries");
    const lines = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(lines.map((line) => line.trim().split(/ +/).slice(0, 6))).toEqual([
      ["ID", "CREATED", "COMPANY", "TARGET", "STATE", "NAME"],
      ["4", "2026-11-05T00:00:00.000Z", "OTHER", "outbound", "waiting", "1_20261105_000000.xml"],
      ["3", "2026-11-05T00:00:00.000Z", "ACME", "outbound", "waiting", "2_20261105_000000.xml"],
      ["2", "2026-11-05T00:00:00.000Z", "ACME", "outbound", "behind", "1_20261105_000001.xml"],
      ["1", "2026-11-05T00:00:00.000Z", "ACME", "outbound", "waiting", "1_20261105_000000.xml"],
    ]);
    const ids = async (...options: readonly string[]) =>
      (await json("deliveries", ...options)).map(({ id }: { id: number }) => id);
    expect(await ids("--company", "acme")).toEqual([3, 2, 1]);
    expect(await ids("--stop", "1")).toEqual([4, 2, 1]);
    expect(await ids("--stop", "1", "--company", "ACME", "--state", "behind")).toEqual([2]);
    expect(await ids("--target", "outbound", "--limit", "1")).toEqual([4]);
    expect((await run("deliveries", "--limit", "1")).stderr).toContain("--limit shows more");
    expect((await run("deliveries", "--limit", "4")).stderr).toBe("");
  });

  test("tells what to do about a dead one", async () => {
    await complete(await acme(), "1", "2");
    await kill(1);
    const { stdout } = await run("deliveries");
    expect(stdout).toMatch(/\n +1 .* dead +1_20261105_000000\.xml +1 +given up .* credentials\n/);
    expect(stdout).toContain("`dropgate delivery show 1` shows why; `dropgate delivery retry 1` retries it");
    expect(await json("deliveries", "--state", "dead")).toMatchObject([
      { id: 1, fault: "credentials", message: "the server refuses the password: correct it", attempts: 1 },
    ]);
  });

  test.each([
    [["--state", "late"], "use one of waiting, behind, delivered, dead"],
    [["--target", "nowhere"], "there is no target nowhere; there is outbound"],
    [["--company", "NOPE"], "there is no company NOPE; there is ACME"],
  ])("ends with 2 for %j", async (options, message) => {
    await acme();
    const { code, stderr } = await run("deliveries", ...options);
    expect([code, stderr.includes(message)]).toEqual([2, true]);
  });
});

describe("dropgate delivery show", () => {
  test("tells state, place, failed attempts and what to do, by number and by the id of the other side", async () => {
    await complete(await acme(), "1");
    await kill(1);
    const { stdout, code } = await run("delivery", "show", "1");
    expect(code).toBe(0);
    expect(stdout).toContain("State         dead\n");
    expect(stdout).toContain("Stop          1\n");
    expect(stdout).toContain("Fault         credentials: the server refuses the password: correct it\n");
    expect(stdout).toContain("Failed        1970-01-01T00:00:00.005Z, 7 ms, credentials: the server");
    expect(stdout).toContain("What to do    fix what the fault names, then `dropgate delivery retry 1`\n");
    const shown = await json("delivery", "show", "1");
    expect(await json("delivery", "show", shown.guid.toUpperCase())).toEqual(shown);
    expect(await json("delivery", "show", `${shown.guid}-12`)).toEqual(shown);
    expect(shown.failedAttempts).toHaveLength(1);
  });

  test("tells which one it is behind, and that its target pauses or is no longer there", async () => {
    await complete(await acme(), "1", "1");
    expect((await run("delivery", "show", "2")).stdout).toContain(
      "behind: waits until delivery 1 (1_20261105_000000.xml) is done",
    );
    const [target] = await listOutboundTargets(store.read);
    const until = Date.now() + 600_000;
    const pause = { id: target?.id ?? 0, failures: 3, pausedUntil: until };
    await store.write("site", (tx) => saveTargetPause(tx, pause));
    expect((await run("delivery", "show", "1")).stdout).toContain(
      `waiting: the target fails, and the next attempt is at ${new Date(until).toISOString()}`,
    );
    await saveOutboundSettings(
      store,
      await configure("companies: {ACME: {outbound: {targets: {tms: {type: folder}}}}}"),
    );
    const { stdout } = await run("delivery", "show", "1");
    expect(stdout).toContain("waiting: its target is not in the configuration");
    expect(stdout).toContain("put the target outbound back into the configuration");
    const retry = await run("delivery", "retry", "1");
    expect(retry.stdout).toContain("its target is not in the configuration: it waits until it is");
  });

  test("ends with 1 for one that is not there and with 2 for what is no number", async () => {
    await acme();
    const missing = await run("delivery", "show", "7");
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("there is no delivery 7: `dropgate deliveries` lists them");
    expect((await run("delivery", "show", "x")).code).toBe(2);
  });
});

describe("dropgate delivery retry", () => {
  test("queues dead ones again and says what is to be known about it", async () => {
    await complete(await acme(), "1", "1", "2");
    await kill(1);
    await deliver(2);
    const { stdout, code, stderr } = await run("delivery", "retry", "1");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Delivery 1 (1_20261105_000000.xml) is to be tried again; a newer file");
    expect(stdout).toContain("1_20261105_000001.xml (delivery 2), was delivered at");
    expect(stdout).toContain("The daemon is not running: its next start does it.\n");
    expect(await json("deliveries", "--state", "waiting")).toMatchObject([{ id: 3 }, { id: 1, attempts: 0 }]);
  });

  test("ends with 1 when one of them is not dead or not there, and queues the others", async () => {
    await complete(await acme(), "1", "2", "3");
    await kill(1);
    await deliver(2);
    const { code, stdout, stderr } = await run("delivery", "retry", "1", "2", "3", "9");
    expect(code).toBe(1);
    expect(stdout).toContain("Delivery 1 ");
    expect(stderr.trimEnd().split("\n")).toEqual([
      "dropgate: delivery 2 is not tried again: it was delivered: `dropgate delivery resend` sends it again",
      "dropgate: delivery 3 is not tried again: it is waiting: it is tried without being asked for",
      "dropgate: delivery 9 is not tried again: there is no such delivery: `dropgate deliveries` lists them",
    ]);
  });

  test("with --all queues all dead ones of one target, and ends the pause of the target", async () => {
    const id = await acme(twoExports);
    await complete(id, "1", "2", "3");
    await kill(1, 3);
    const [target] = await listOutboundTargets(store.read);
    const pausedUntil = Date.now() + 600_000;
    await store.write("site", (tx) => saveTargetPause(tx, { id: target?.id ?? 0, failures: 3, pausedUntil }));
    const nothing = await run("delivery", "retry", "--all", "--target", "share");
    expect(nothing).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing to share is dead") });
    const inJson = await json("delivery", "retry", "--all", "--target", "share");
    expect(inJson).toMatchObject({ queued: 0, wasPaused: false, hastened: 0 });
    const { stdout, code } = await run("delivery", "retry", "--all", "--target", "outbound");
    expect(code).toBe(0);
    expect(stdout).toContain("2 deliveries to outbound to be tried again; its pause has ended");
    expect(await json("deliveries", "--state", "dead")).toEqual([]);
    const [after] = await listOutboundTargets(store.read);
    expect(after?.failures).toBe(3);
    // The moment itself: that is how a running daemon knows that somebody has ended it.
    expect(after?.pausedUntil).toBeGreaterThan(pausedUntil - 600_001);
    expect(after?.pausedUntil).toBeLessThanOrEqual(Date.now());
  });

  test("of one that waits only because its target pauses ends the pause, as --all does with nothing dead", async () => {
    await complete(await acme(), "1");
    const [target] = await listOutboundTargets(store.read);
    const pause = () =>
      store.write("site", (tx) =>
        saveTargetPause(tx, { id: target?.id ?? 0, failures: 3, pausedUntil: Date.now() + 600_000 }),
      );
    const isPaused = async () => ((await listOutboundTargets(store.read))[0]?.pausedUntil ?? 0) > Date.now();
    await pause();
    const one = await run("delivery", "retry", "1");
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining("is to be tried again.") });
    expect(await isPaused()).toBe(false);
    await pause();
    const all = await run("delivery", "retry", "--all", "--target", "outbound");
    expect(all.stdout).toContain("Nothing to outbound is dead; its pause has ended");
    expect(await isPaused()).toBe(false);
  });

  test.each([
    [[]],
    [["--all"]],
    [["--all", "--target", "outbound", "--dry-run"]],
    [["1", "--all", "--target", "outbound"]],
    [["1", "--target", "outbound"]],
    [["x"]],
  ])("ends with 2 for %j", async (args) => {
    await acme();
    expect((await run("delivery", "retry", ...args)).code).toBe(2);
  });
});

describe("dropgate export", () => {
  test("makes all exports of all companies, and tells number, stops, name and delivery", async () => {
    const id = await acme(twoExports);
    await complete(id, "1", "2");
    const { stdout, code } = await run("export");
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(
      "Export 1 of nightly (ACME) made with 2 stops: acme_nightly_000001.xml, delivery 3 to outbound.",
    );
    expect(lines[1]).toMatch(
      /^Export 1 of weekly \(ACME\) made with 2 stops: weekly-\d{4}-\d\d-\d\d-000001, delivery 4 to share\.$/,
    );
    expect(lines[2]).toBe("The daemon is not running: its next start delivers.");
    expect(await json("deliveries", "--target", "share")).toMatchObject([
      { id: 4, kind: "export", export: "weekly", stopNbr: null, state: "waiting" },
    ]);
  });

  test("makes one by its name, then only what came since", async () => {
    const id = await acme(twoExports);
    await complete(id, "1");
    const first = await json("export", "--company", "acme", "--name", "nightly");
    expect(first).toMatchObject([{ export: "nightly", sequenceNbr: 1, stops: 1, isAgain: false }]);
    await complete(id, "2", "3");
    expect(await json("export", "--name", "nightly")).toMatchObject([
      { sequenceNbr: 2, stops: 2, afterCompletion: first[0].lastCompletion },
    ]);
    expect(await json("export", "--name", "nightly")).toMatchObject([{ sequenceNbr: 3, stops: 0 }]);
  });

  test("delivers one again, and says when it is not there or too old", async () => {
    const id = await acme(twoExports);
    await complete(id, "1");
    await run("export", "--name", "nightly");
    const again = await run("export", "--name", "nightly", "--again", "1");
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toContain(
      "1 stop, is delivered again: acme_nightly_000001.xml, delivery 3 to outbound.",
    );
    expect(await run("export", "--name", "nightly", "--again", "2")).toMatchObject({
      ...{ code: 1, stdout: "" },
      stderr: "dropgate: there is no export 2 of nightly (ACME): the newest is 1\n",
    });
    for (const delivery of [2, 3]) await deliver(delivery);
    const step = { companyId: id, before: Date.now() + 1_000, afterId: 0, limit: 10 };
    await store.write("site", (tx) => pruneExportDeliveries(tx, step));
    const old = await run("export", "--name", "nightly", "--again", "1");
    expect(old.code).toBe(1);
    expect(old.stderr).toContain("what it was made of is kept no longer (retention.outbound is 90)");
  });

  test("of a company without exports is one document into its outbound/, by the name export", async () => {
    const id = await acme();
    await complete(id, "1");
    expect(await json("export")).toMatchObject([
      { export: "export", stops: 1, form: "document", target: "outbound", name: "acme_export_000001.xml" },
    ]);
    expect(await json("export", "--company", "ACME")).toMatchObject([{ sequenceNbr: 2, stops: 0 }]);
  });

  test("enters the targets of the configuration when no daemon has done so", async () => {
    await addCompany("ACME");
    await configure(twoExports);
    expect((await run("export", "--name", "weekly")).code).toBe(0);
    expect((await listOutboundTargets(store.read)).map(({ name }) => name)).toEqual(["outbound", "share"]);
  });

  test.each([
    [["--name", "monthly"], "there is no export monthly; there is nightly (ACME), weekly (ACME)"],
    [["--again", "1"], "--again needs one export"],
    [["--company", "NOPE"], "there is no company NOPE"],
    [["--again", "0"], "whole number"],
  ])("ends with 2 for %j", async (options, message) => {
    await acme(twoExports);
    const { code, stderr } = await run("export", ...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("ends with 2 when there are several companies and none has exports", async () => {
    await acme();
    await addCompany("OTHER");
    const { code, stderr } = await run("export");
    expect([code, stderr]).toEqual([2, expect.stringContaining("name one with --company")]);
    expect(await json("export", "--company", "OTHER")).toMatchObject([{ company: "OTHER" }]);
  });
});

test.each(["deliveries", "delivery show", "delivery retry", "export"])(
  "%s has --help, whose lines fit on a screen",
  async (command) => {
    const { code, stdout } = await run(...command.split(" "), "--help");
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: dropgate ${command}`);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100);
  },
);
