/**
 * Deaths in the midst of migrations: each fixture database is migrated with `kill -9` at every step that the migration
 * passes, and at random moments, and is opened again.
 *
 *   node test/nightly/migration-deaths.ts [--only 07] [--random 5] [--seed 1]
 *
 * After each death the database has a schema that is known; the next opening brings it to the newest one with the same
 * rows as a migration in peace, and `dropgate.db.before-N` has the rows of the fixture, whenever the death came. Prints a
 * line for each fixture; ends with 1 when something was not so.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import BetterSqlite from "better-sqlite3";
import { databaseFileName } from "../../src/store/database/database.ts";
import { findSchema } from "../../src/store/database/migrate.ts";
import { currentSchema, planSchema } from "../../src/store/database/schema-plan.ts";
import { killedExitCode } from "../e2e/crash-host.ts";
import { stepsIn } from "../e2e/crash-plan.ts";
import { type DatabaseFixture, databaseFixtures, plantDatabase } from "../fixtures/databases/fixtures.ts";
import { program } from "../support/daemon.ts";
import { randomOf } from "../support/random-numbers.ts";
import { runProgram } from "../support/run-program.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    random: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
  },
});
const random = randomOf(Number(values.seed));

/** How an opening of the database ends. */
type End =
  | { readonly kind: "peace"; readonly stepsFile?: string }
  | { readonly kind: "step"; readonly step: string }
  | { readonly kind: "random"; readonly afterMs: number };

interface Content {
  readonly fingerprint: string;
  /** The rows of each table, as JSON, in their order. */
  readonly rows: Readonly<Record<string, readonly string[]>>;
}

function contentOf(path: string): Content {
  const database = new BetterSqlite(path, { readonly: true });
  try {
    const damage = database.pragma("quick_check", { simple: true });
    if (damage !== "ok") throw new Error(`${path} is damaged: ${String(damage)}`);
    const tables = database
      .prepare(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name",
      )
      .pluck()
      .all() as string[];
    const rowsOf = (table: string) =>
      database
        .prepare(`select * from "${table}"`)
        .raw()
        .all()
        .map((row) => JSON.stringify(row))
        .sort();
    return {
      fingerprint: findSchema(database).fingerprint,
      rows: Object.fromEntries(tables.map((table) => [table, rowsOf(table)])),
    };
  } finally {
    database.close();
  }
}

/** What differs, in words; undefined when nothing does. */
function difference(found: Content, wanted: Content): string | undefined {
  if (found.fingerprint !== wanted.fingerprint) return "another schema";
  const names = Object.keys(wanted.rows).filter(
    (table) => JSON.stringify(found.rows[table]) !== JSON.stringify(wanted.rows[table]),
  );
  return names.length === 0 ? undefined : `other rows in ${names.join(", ")}`;
}

/** A state directory with a fixture in it, opened by a command that does nothing else. */
class State {
  readonly #folder = mkdtempSync(join(tmpdir(), "dropgate-migration-"));
  readonly stateDir = join(this.#folder, "var");

  constructor(fixture: DatabaseFixture) {
    mkdirSync(this.stateDir, { mode: 0o750 });
    plantDatabase(this.stateDir, fixture);
    writeFileSync(join(this.#folder, "dropgate.yaml"), JSON.stringify({ stateDir: this.stateDir }));
  }

  get database(): string {
    return join(this.stateDir, databaseFileName);
  }

  get copy(): string {
    return `${this.database}.before-${currentSchema}`;
  }

  /** The exit code. */
  async open(end: End): Promise<number> {
    const env = {
      ...process.env,
      ...(end.kind === "step" ? { DROPGATE_KILL_POINT: end.step } : {}),
      ...(end.kind === "peace" && end.stepsFile !== undefined ? { DROPGATE_STEPS_FILE: end.stepsFile } : {}),
    };
    const args = ["company", "list", "--config", join(this.#folder, "dropgate.yaml")];
    const { exitCode, output } = await runProgram(program, args, {
      env,
      onStart: (child) => {
        if (end.kind === "random") void pause(end.afterMs).then(() => child.kill("SIGKILL"));
      },
    });
    if (end.kind === "peace" && exitCode !== 0) throw new Error(`it does not open: ${output}`);
    return exitCode;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Wanted {
  readonly before: Content;
  readonly after: Content;
  readonly isMigrated: boolean;
}

/** What is not as it has to be after a death and the opening behind it. */
async function faultsAfter(state: State, end: End, { before, after, isMigrated }: Wanted): Promise<string[]> {
  const exitCode = await state.open(end);
  const faults: string[] = [];
  if (end.kind === "step" && exitCode !== killedExitCode) faults.push(`it ended with ${exitCode}`);
  const database = new BetterSqlite(state.database, { readonly: true });
  const plan = planSchema(findSchema(database)).kind;
  database.close();
  if (plan !== "steps") faults.push(`the schema after the death is ${plan}`);
  await state.open({ kind: "peace" });
  const [own, copy] = [
    difference(contentOf(state.database), after),
    existsSync(state.copy) ? difference(contentOf(state.copy), before) : "missing",
  ];
  if (own !== undefined) faults.push(`the database: ${own}`);
  if (isMigrated && copy !== undefined) faults.push(`the copy: ${copy}`);
  const left = readdirSync(state.stateDir).filter((name) => name.endsWith(".tmp"));
  return left.length === 0 ? faults : [...faults, `left over: ${left.join(", ")}`];
}

async function inPeace(fixture: DatabaseFixture) {
  const state = new State(fixture);
  try {
    const stepsFile = join(state.stateDir, "steps");
    const before = contentOf(state.database);
    const startedAt = performance.now();
    await state.open({ kind: "peace", stepsFile });
    const tookMs = performance.now() - startedAt;
    const isMigrated = existsSync(state.copy);
    const steps = [...stepsIn(stepsFile).all].flatMap(([step, count]) =>
      Array.from({ length: count }, (_, pass) => `${step}:${pass + 1}`),
    );
    return { steps, tookMs, wanted: { before, after: contentOf(state.database), isMigrated } };
  } finally {
    state.remove();
  }
}

async function tryFixture(fixture: DatabaseFixture): Promise<readonly string[]> {
  const { steps, tookMs, wanted } = await inPeace(fixture);
  const ends: End[] = [
    ...steps.map((step): End => ({ kind: "step", step })),
    ...Array.from(
      { length: Number(values.random) },
      (): End => ({ kind: "random", afterMs: Math.floor(random() * tookMs) }),
    ),
  ];
  const faults: string[] = [];
  for (const end of ends) {
    const state = new State(fixture);
    try {
      const found = await faultsAfter(state, end, wanted);
      faults.push(...found.map((fault) => `${fixture.name}, ${JSON.stringify(end)}: ${fault}`));
    } finally {
      state.remove();
    }
  }
  console.log(
    `${fixture.name}: ${ends.length} deaths, ${faults.length === 0 ? "all well" : faults.join("; ")}`,
  );
  return faults;
}

const faults: string[] = [];
for (const fixture of databaseFixtures.filter(({ name }) => name.startsWith(values.only)))
  faults.push(...(await tryFixture(fixture)));
process.exitCode = faults.length === 0 ? 0 : 1;
