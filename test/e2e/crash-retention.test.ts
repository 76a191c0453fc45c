/**
 * Retention over kill -9 at each of its durable steps, by the command `prune`: the ledger is right at every moment, and the
 * next pass does what was left (specification/file-exchange.md#retention).
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ledgerNumberKind } from "../../src/inbound/receipts/receipts.ts";
import { createSealedNumbers } from "../../src/lib/sealed-numbers.ts";
import { sealingKeyOf } from "../../src/store/database/meta.ts";
import { filed, fixture } from "../support/aging-files.ts";
import { runProgram } from "../support/run-program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { killedExitCode } from "./crash-host.ts";

const program = join(import.meta.dirname, "../../bin/dropgate");
/** Of each kind, and the same name twice, so that receipts are looked at. */
const names = ["1_20261105_080000.xml", "2_20261105_080000.xml", "3_20261105_080000.xml"];

/** A copy of the state of the test, with a configuration of its own. */
function copyState(retention: object): { config: string; folder: string } {
  const folder = temporaryFolder();
  const moveTo = join(folder, "old");
  mkdirSync(moveTo);
  cpSync(fixture.stateDir, join(folder, "var"), { recursive: true });
  const config = join(folder, "dropgate.yaml");
  const ages = { archive: 1, error: 1, receipts: 1, ledger: 2 };
  const settings = "moveTo" in retention ? { ...ages, moveTo } : ages;
  writeFileSync(config, JSON.stringify({ stateDir: "./var", retention: settings }));
  return { config, folder };
}

function prune(config: string, env: Readonly<Record<string, string>> = {}) {
  const args = ["prune", "--clock-is-right", "--json", "-c", config];
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

/** The steps that a pass takes, each with how often. */
async function stepsOf(retention: object): Promise<ReadonlyMap<string, number>> {
  const { config, folder } = copyState(retention);
  const stepsFile = join(folder, "steps");
  const { exitCode, output } = await prune(config, { DROPGATE_STEPS_FILE: stepsFile });
  expect(exitCode, output).toBe(0);
  const steps = new Map<string, number>();
  for (const line of readFileSync(stepsFile, "utf8").trimEnd().split("\n")) {
    const step = line.slice(line.indexOf(" ") + 1);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return steps;
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function verify(config: string) {
  const { stdout, output } = await runProgram(program, ["ledger", "verify", "--json", "-c", config]);
  const report = JSON.parse(stdout) as { discrepancies: object[]; accounts: { received: number }[] };
  expect(report.discrepancies, output).toEqual([]);
  expect(report.accounts.map(({ received }) => received)).toEqual([names.length]);
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
    const steps = await stepsOf(retention);
    const whole = copyState(retention);
    await prune(whole.config);
    const expected = filesBelow(join(whole.folder, "old"));
    expect(expected).toHaveLength("moveTo" in retention ? 7 : 0);
    const own = [...steps].filter(([step]) =>
      /@(prune-files|own-receipt|move-away|durable-file)|^(unit|commit)@/.test(step),
    );
    expect(own.length).toBeGreaterThan(8);
    for (const [step, passes] of own) {
      // The first pass of a step when files are removed, the last one when they are moved.
      const point = `${step}:${"moveTo" in retention ? passes : 1}`;
      const at = copyState(retention);
      const died = await prune(at.config, { DROPGATE_KILL_POINT: point });
      expect(died.exitCode, point).toBe(killedExitCode);
      await verify(at.config);
      const next = await prune(at.config);
      expect(next.exitCode, next.output).toBe(0);
      expect(filesBelow(join(at.folder, "old")), point).toEqual(expected);
      expect(filesBelow(join(at.folder, "var/companies")), point).toEqual([]);
    }
  },
  600_000,
);
