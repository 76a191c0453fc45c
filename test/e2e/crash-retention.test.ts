/**
 * Retention over kill -9 at each of its durable steps, by the command `prune`: the ledger is right at every moment, and the
 * next pass does what was left (specification/file-exchange.md#retention). Only what dies has a process of its own; the
 * test calls the rest of the commands' work itself.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { verifyWholeLedger } from "../../src/app/admin/ledger-admin.ts";
import { pruneNow } from "../../src/app/admin/prune-admin.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import { mapConcurrently } from "../../src/lib/concurrency.ts";
import { createSealedNumbers } from "../../src/lib/sealed-numbers.ts";
import { sealingKeyOf } from "../../src/store/database/meta.ts";
import { filed, fixture } from "../support/aging-files.ts";
import { runProgram } from "../support/run-program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { killedExitCode } from "./crash-host.ts";
import { itOnSqlite as test } from "../support/store-dialect.ts";
import { sampled } from "../support/sampled.ts";

ledgerOfEachTest(fixture);

const program = join(import.meta.dirname, "../../bin/dropgate");
/** Of each kind, and the same name twice, so that receipts are looked at. */
const names = ["1_20261105_080000.xml", "2_20261105_080000.xml", "3_20261105_080000.xml"];
/** Deaths at a time: a verification waits a second between its looks. */
const atOnce = 3;

/** A copy of the state of the test, with a configuration of its own. */
async function copyState(retention: object): Promise<{ configFile: string; config: Config; folder: string }> {
  const folder = temporaryFolder();
  const moveTo = join(folder, "old");
  mkdirSync(moveTo);
  await cp(fixture.stateDir, join(folder, "var"), { recursive: true });
  const configFile = join(folder, "dropgate.yaml");
  const ages = { archive: 1, error: 1, receipts: 1, ledger: 2 };
  const settings = "moveTo" in retention ? { ...ages, moveTo } : ages;
  writeFileSync(configFile, JSON.stringify({ stateDir: "./var", retention: settings }));
  const loaded = await loadConfig({ path: configFile, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
  return { configFile, config: loaded.config, folder };
}

function prune(configFile: string, env: Readonly<Record<string, string>>) {
  const args = ["prune", "--clock-is-right", "--json", "-c", configFile];
  return runProgram(program, args, { env: { ...process.env, ...env } });
}

/** The receipts of the fixture, with the references that the program gives. */
async function sealReceipts(): Promise<void> {
  const numbers = createSealedNumbers(await sealingKeyOf(fixture.store), ledgerNumberKind);
  const root = join(fixture.stateDir, "companies");
  for (const path of filesBelow(root).filter((name) => name.endsWith(".receipt.xml"))) {
    const text = readFileSync(join(root, path), "utf8");
    writeFileSync(
      join(root, path),
      text.replace(/sealed-(\d+)/, (_whole, id: string) => numbers.seal(Number(id))),
    );
  }
}

/** The steps that a pass in peace takes, each with how often, and what it moves. */
async function stepsOf(
  retention: object,
): Promise<{ readonly steps: ReadonlyMap<string, number>; readonly moved: readonly string[] }> {
  const { configFile, folder } = await copyState(retention);
  const stepsFile = join(folder, "steps");
  const { exitCode, output } = await prune(configFile, { DROPGATE_STEPS_FILE: stepsFile });
  expect(exitCode, output).toBe(0);
  const steps = new Map<string, number>();
  for (const line of readFileSync(stepsFile, "utf8").trimEnd().split("\n")) {
    const step = line.slice(line.indexOf(" ") + 1);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return { steps, moved: filesBelow(join(folder, "old")) };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** What the command `ledger verify` does. */
async function verify(config: Config, point: string): Promise<void> {
  const { discrepancies, accounts } = await verifyWholeLedger(config, {});
  expect(discrepancies, point).toEqual([]);
  expect(
    accounts.map(({ received }) => received),
    point,
  ).toEqual([names.length]);
}

/** The command dies at the point. The ledger is right then, and what the command does once more is what was left. */
async function dieAt(point: string, retention: object, moved: readonly string[]): Promise<void> {
  const { configFile, config, folder } = await copyState(retention);
  const died = await prune(configFile, { DROPGATE_KILL_POINT: point });
  expect(died.exitCode, `${point}: ${died.output}`).toBe(killedExitCode);
  await verify(config, point);
  await pruneNow(config, { clockIsRight: true });
  await verify(config, point);
  expect(filesBelow(join(folder, "old")), point).toEqual(moved);
  expect(filesBelow(join(folder, "var/companies")), point).toEqual([]);
}

test.each([
  ["removes files", {}],
  ["moves files", { moveTo: "there" }],
])(
  "a pass that %s is right after a death at each of its steps, and is finished by the next",
  async (_, retention) => {
    for (const [index, name] of names.entries())
      await filed(name, { day: -1_000, state: index === 1 ? "refused" : "applied" });
    await sealReceipts();
    const { steps, moved } = await stepsOf(retention);
    expect(moved).toHaveLength("moveTo" in retention ? 7 : 0);
    const own = [...steps].filter(([step]) =>
      /@(prune-files|own-receipt|move-away|durable-file)|^(unit|commit)@/.test(step),
    );
    expect(own.length).toBeGreaterThan(8);
    // The first pass of a step when files are removed, the last one when they are moved.
    const points = own.map(([step, passes]) => `${step}:${"moveTo" in retention ? passes : 1}`);
    await mapConcurrently(sampled(points, 4), atOnce, (point) => dieAt(point, retention, moved));
  },
);
