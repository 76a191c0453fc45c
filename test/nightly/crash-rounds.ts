/**
 * The long crash test: every kill point once, then random ones and random moments.
 *
 *   node test/nightly/crash-rounds.ts [rounds=200] [seed=1] [first=0]
 *
 * `first` is the number of the round to begin with: the rounds up to the number of points take one point each.
 * Prints one line a round and a summary; ends with 1 when anything was lost, doubled, or left lying about.
 */
import { mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../src/lib/errors.ts";
import type { KillPoint } from "../../src/lib/kill-point.ts";
import { allPoints, frequentPoints, type Ground, planFor } from "../e2e/crash-plan.ts";
import { CrashPlace, otherDisk, type Round, type RoundResult, runRound } from "../e2e/crash-round.ts";
import { company, program, user } from "../support/daemon.ts";
import { randomOf } from "../support/random-numbers.ts";
import { runProgram } from "../support/run-program.ts";

interface Task {
  readonly title: string;
  readonly ground: Ground;
  readonly round: Round;
  readonly point?: KillPoint;
}

const [rounds = 200, seed = 1, first = 0] = process.argv.slice(2).map(Number);
const verifyEvery = 10;
const restartPlaceEvery = 50;
const random = randomOf(seed + first);

function taskAt(index: number): Task {
  const prefix = `n${index}`;
  const point = allPoints[index];
  if (point !== undefined) {
    const { ground, roundFor } = planFor(point);
    return { title: point, ground, round: roundFor(prefix, 1), point };
  }
  const kind = random();
  if (kind < 0.5) {
    const afterMs = Math.floor(random() * 300);
    const round: Round = { prefix, deaths: [{ kind: "random", afterMs }] };
    return { title: `after ${afterMs} ms`, ground: "usual", round };
  }
  const chosen = frequentPoints[Math.floor(random() * frequentPoints.length)] ?? "ledger.inserted";
  const nth = 2 + Math.floor(random() * 20);
  const { ground, roundFor } = planFor(chosen);
  return { title: `${chosen}:${nth}`, ground, round: roundFor(prefix, nth) };
}

/** Cut off while everything is made, and made by the second attempt. */
async function makeAgain(place: CrashPlace, point: string): Promise<string[]> {
  const { site } = place;
  await rm(site.stateDir, { recursive: true, force: true });
  const account = ["--company", company, "--user", user, "--password-file", site.passwordFile];
  const args = ["init", "--dir", site.folder, ...account];
  const env = { ...process.env, DROPGATE_KILL_POINT: point };
  const killed = await runProgram(program, args, { env });
  const made = await runProgram(program, args);
  await site.mustRun("user", "add-key", user, "--key", `${site.keyFile}.pub`);
  const problems = killed.exitCode === 137 ? [] : [`init was not killed: ${killed.output}`];
  return made.exitCode === 0 ? problems : [...problems, `init ended with ${made.exitCode}: ${made.output}`];
}

/** `archive/` and `error/` on another file system, so that filing copies. */
async function moveArchive(place: CrashPlace): Promise<readonly string[]> {
  const folders: string[] = [];
  for (const name of ["archive", "error"]) {
    const [here, away] = [place.site.path(name), await mkdtemp(join(otherDisk, "dropgate-crash-"))];
    await rename(here, join(place.site.folder, `${name}.kept`));
    await symlink(away, here);
    folders.push(away);
  }
  return folders;
}

async function runOnOwnGround({ ground, round, title }: Task): Promise<RoundResult> {
  const place = await CrashPlace.make();
  const folders = ground === "archiveElsewhere" && place.hasOtherDisk ? await moveArchive(place) : [];
  try {
    const problems = ground === "firstStart" ? await makeAgain(place, title) : [];
    const result = await runRound(place, ground === "firstStart" ? { ...round, deaths: [] } : round);
    return { ...result, problems: [...problems, ...result.problems] };
  } finally {
    await place.end();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

function describe(index: number, task: Task, result: RoundResult, ms: number): string {
  const missed = result.missed.length === 0 ? "" : ` MISSED ${result.missed.join(" ")}`;
  const sent = `${result.answered} answered, ${result.sentAgain} sent again`;
  return `${index + 1} ${task.title}: ${sent}, ${Math.round(ms)} ms${missed}`;
}

/** A round that cannot be finished is a problem like any other, told with the end of the daemon's log. */
async function runTask(place: CrashPlace, task: Task, isVerified: boolean): Promise<RoundResult> {
  try {
    if (task.ground !== "usual") return await runOnOwnGround(task);
    return await runRound(place, { ...task.round, isVerified });
  } catch (error) {
    const log = place.site.daemon.text.slice(-4000);
    if (place.site.isRunning) await place.site.kill();
    return { missed: [], problems: [`not finished: ${messageOf(error)}\n${log}`], answered: 0, sentAgain: 0 };
  }
}

interface Totals {
  readonly missed: string[];
  readonly problems: string[];
  readonly covered: Set<string>;
  answered: number;
  sentAgain: number;
  starts: number;
}

async function main(): Promise<number> {
  const startedMs = performance.now();
  const totals: Totals = {
    missed: [],
    problems: [],
    covered: new Set(),
    answered: 0,
    sentAgain: 0,
    starts: 0,
  };
  const { missed, problems, covered } = totals;
  let place = await CrashPlace.make();
  for (let index = first; index < first + rounds; index += 1) {
    const task = taskAt(index);
    const roundStartedMs = performance.now();
    const isVerified = (index + 1) % verifyEvery === 0 || index + 1 === first + rounds;
    const result = await runTask(place, task, isVerified);
    totals.answered += result.answered;
    totals.sentAgain += result.sentAgain;
    missed.push(...result.missed);
    if (task.point !== undefined && result.missed.length === 0 && result.answered > 0)
      covered.add(task.point);
    console.log(describe(index, task, result, performance.now() - roundStartedMs));
    for (const problem of result.problems) console.log(`  PROBLEM ${problem}`);
    problems.push(...result.problems.map((problem) => `${task.title}: ${problem}`));
    if ((index + 1) % restartPlaceEvery !== 0 || index + 1 === first + rounds) continue;
    totals.starts += place.starts;
    await place.end();
    place = await CrashPlace.make();
  }
  totals.starts += place.starts;
  await place.end();
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(
    `${rounds} rounds, seed ${seed}, ${seconds} s: ${covered.size} of ${allPoints.length} kill points reached, ` +
      `${totals.starts} starts, ${totals.answered} uploads answered, ${totals.sentAgain} sent again, ` +
      `${missed.length} points missed (${missed.join(" ")}), ${problems.length} problems`,
  );
  return problems.length === 0 ? 0 : 1;
}

process.exitCode = await main();
