/**
 * The long crash test: a death at every step that the daemon passes, and at random moments.
 *
 *   node test/nightly/crash-rounds.ts [rounds=200] [seed=1] [first=0]
 *
 * First each way runs in peace, and the steps on it are counted. Then the daemon dies, once at each step, at a pass that
 * the seed draws; then at the passes that are left, in an order that the seed draws, and at random moments. `first` is the
 * number of the round to begin with. Prints one line a round, and at the end which steps were reached and which were not;
 * ends with 1 when anything was lost, doubled, or left lying about.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../src/lib/errors.ts";
import { type StepCounts, stepsIn, type Way, type WayEnd, ways } from "../e2e/crash-plan.ts";
import { killedExitCode } from "../e2e/crash-host.ts";
import {
  CrashPlace,
  type Death,
  environmentFor,
  otherDisk,
  type RoundResult,
  runRound,
} from "../e2e/crash-round.ts";
import { company, program, user } from "../support/daemon.ts";
import { randomOf } from "../support/random-numbers.ts";
import { runProgram } from "../support/run-program.ts";

/** One pass of a step on the way that leads to it. */
interface Call {
  readonly way: Way;
  readonly step: string;
  readonly nth: number;
}

const [rounds = 200, seed = 1, first = 0] = process.argv.slice(2).map(Number);
const verifyEvery = 10;
const restartPlaceEvery = 50;
/** Of the rounds behind those that take one step each. */
const randomShare = 0.25;
const random = randomOf(seed);

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ each }) => each);
}

/** Cut off while everything is made, and made by the second attempt. */
async function makeAgain(place: CrashPlace, end: WayEnd): Promise<string[]> {
  const { site } = place;
  await rm(site.stateDir, { recursive: true, force: true });
  const account = ["--company", company, "--user", user, "--password-file", site.passwordFile];
  const args = ["init", "--dir", site.folder, ...account];
  const env = { ...process.env, ...environmentFor(end) };
  const cutOff = await runProgram(program, args, { env });
  const made = await runProgram(program, args);
  await site.mustRun("user", "add-key", user, "--key", `${site.keyFile}.pub`);
  const isAsMeant = cutOff.exitCode === (end.kind === "step" ? killedExitCode : 0);
  const problems = isAsMeant ? [] : [`init ended with ${cutOff.exitCode}: ${cutOff.output}`];
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

async function runOnOwnGround({ way, prefix, end }: Task): Promise<RoundResult> {
  const place = await CrashPlace.make();
  const folders = way.ground === "archiveElsewhere" && place.hasOtherDisk ? await moveArchive(place) : [];
  try {
    const isFirst = way.ground === "firstStart";
    const problems = isFirst ? await makeAgain(place, end) : [];
    const round = way.roundFor(prefix, end);
    const result = await runRound(place, isFirst ? { ...round, deaths: [] } : round);
    return { ...result, problems: [...problems, ...result.problems] };
  } finally {
    await place.end();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

interface Task {
  readonly way: Way;
  readonly prefix: string;
  readonly end: WayEnd;
  readonly isVerified: boolean;
}

/** A round that cannot be finished is a problem like any other, told with the end of the daemon's log. */
async function finished(place: CrashPlace, run: () => Promise<RoundResult>): Promise<RoundResult> {
  try {
    return await run();
  } catch (error) {
    const log = place.site.daemon.text.slice(-4000);
    if (place.site.isRunning) await place.site.kill();
    return { missed: [], problems: [`not finished: ${messageOf(error)}\n${log}`], answered: 0, sentAgain: 0 };
  }
}

async function runTask(place: CrashPlace, task: Task): Promise<RoundResult> {
  const { way, prefix, end, isVerified } = task;
  if (way.ground !== "usual") return await runOnOwnGround(task);
  return await runRound(place, { ...way.roundFor(prefix, end), isVerified });
}

/** A place that is made anew from time to time, so that it stays small. */
class Places {
  #place: CrashPlace | undefined;
  #rounds = 0;
  #starts = 0;

  async next(): Promise<CrashPlace> {
    if (this.#rounds % restartPlaceEvery === 0) await this.end();
    this.#rounds += 1;
    this.#place ??= await CrashPlace.make();
    return this.#place;
  }

  async end(): Promise<number> {
    this.#starts += this.#place?.starts ?? 0;
    await this.#place?.end();
    this.#place = undefined;
    return this.#starts;
  }
}

/** What all rounds have come to. */
class Totals {
  readonly problems: string[] = [];
  readonly reached = new Set<string>();
  readonly missed: string[] = [];
  #passes = 0;
  #answered = 0;
  #sentAgain = 0;

  add(title: string, result: RoundResult, ms: number): void {
    const missed = result.missed.length === 0 ? "" : ` MISSED ${result.missed.join(" ")}`;
    const sent = `${result.answered} answered, ${result.sentAgain} sent again`;
    console.log(`${title}: ${sent}, ${Math.round(ms)} ms${missed}`);
    for (const problem of result.problems) console.log(`  PROBLEM ${problem}`);
    this.problems.push(...result.problems.map((problem) => `${title}: ${problem}`));
    this.missed.push(...result.missed);
    this.#answered += result.answered;
    this.#sentAgain += result.sentAgain;
  }

  reach(step: string): void {
    this.reached.add(step);
    this.#passes += 1;
  }

  print(calls: readonly Call[], starts: number, seconds: number): void {
    const steps = [...new Set(calls.map(stepOnWay))];
    const left = steps.filter((step) => !this.reached.has(step));
    console.log(`reached: ${[...this.reached].sort().join(", ")}`);
    console.log(`not reached: ${left.sort().join(", ")}`);
    console.log(
      `${rounds} rounds, seed ${seed}, ${seconds} s: ${this.reached.size} of ${steps.length} steps reached, ` +
        `${this.#passes} of their ${calls.length} passes, ${starts} starts, ${this.#answered} uploads answered, ` +
        `${this.#sentAgain} sent again, ${this.missed.length} passes missed (${this.missed.join(" ")}), ` +
        `${this.problems.length} problems`,
    );
  }
}

/** Which passes a way is there for: of steps that no way before it has, and, of the start, what is taken up. */
class CallFinder {
  readonly calls: Call[] = [];
  readonly #known = new Set<string>();
  /** Of a start that finds nothing. */
  #emptyStart: StepCounts = new Map();

  /** How many steps are the way's. */
  add(way: Way, { all, start }: ReturnType<typeof stepsIn>): number {
    const own = new Map([...all].filter(([step]) => !this.#known.has(step) && !isOfRecovery(step)));
    for (const step of own.keys()) this.#known.add(step);
    if (way.takesUp !== true) this.#emptyStart = this.#emptyStart.size === 0 ? start : this.#emptyStart;
    else {
      for (const [step, count] of start)
        if (isOfRecovery(step) || count > (this.#emptyStart.get(step) ?? 0)) own.set(step, count);
    }
    for (const [step, count] of own)
      for (let nth = 1; nth <= count; nth += 1) this.calls.push({ way, step, nth });
    return own.size;
  }
}

function isOfRecovery(step: string): boolean {
  return step.startsWith("recovery.");
}

/** Runs each way in peace, and gives every pass of its steps. */
async function learnCalls(places: Places, totals: Totals): Promise<readonly Call[]> {
  const finder = new CallFinder();
  for (const [index, way] of ways.entries()) {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-steps-"));
    const stepsFile = join(folder, "steps");
    const place = await places.next();
    const task = {
      way,
      prefix: `c${seed}-${index}`,
      end: { kind: "peace", stepsFile },
      isVerified: true,
    } as const;
    const startedMs = performance.now();
    const result = await finished(place, () => runTask(place, task));
    const found = existsSync(stepsFile) ? finder.add(way, stepsIn(stepsFile)) : 0;
    await rm(folder, { recursive: true });
    totals.add(`${way.title}, ${found} steps`, result, performance.now() - startedMs);
  }
  return finder.calls;
}

/** The same step on two ways is two steps: the process dies with other work in hand. */
function stepOnWay({ way, step }: Call): string {
  return `${step} (${way.title})`;
}

/** One pass of each step, then the others. */
function inOrder(calls: readonly Call[]): readonly Call[] {
  const byStep = [...Map.groupBy(calls, stepOnWay).values()].map(shuffled);
  const heads = byStep.flatMap((ofStep) => ofStep.slice(0, 1));
  return [...shuffled(heads), ...shuffled(byStep.flatMap((ofStep) => ofStep.slice(1)))];
}

async function main(): Promise<number> {
  const startedMs = performance.now();
  const totals = new Totals();
  const places = new Places();
  const calls = await learnCalls(places, totals);
  const ordered = inOrder(calls);
  const stepCount = new Set(calls.map(stepOnWay)).size;
  let taken = first;
  for (let index = first; index < first + rounds; index += 1) {
    const isVerified = (index + 1) % verifyEvery === 0 || index + 1 === first + rounds;
    const isRandom = index >= stepCount && random() < randomShare;
    const call = isRandom ? undefined : ordered[taken % ordered.length];
    if (call !== undefined) taken += 1;
    const place = await places.next();
    const roundStartedMs = performance.now();
    const result = await finished(place, () => runRoundOf(place, call, { index, isVerified }));
    if (call !== undefined && result.missed.length + result.problems.length === 0)
      totals.reach(stepOnWay(call));
    totals.add(`${index + 1} ${titleOf(call)}`, result, performance.now() - roundStartedMs);
  }
  totals.print(calls, await places.end(), Math.round((performance.now() - startedMs) / 1000));
  return totals.problems.length === 0 ? 0 : 1;
}

function titleOf(call: Call | undefined): string {
  return call === undefined ? "at a random moment" : `${call.step}:${call.nth} (${call.way.title})`;
}

async function runRoundOf(
  place: CrashPlace,
  call: Call | undefined,
  { index, isVerified }: { readonly index: number; readonly isVerified: boolean },
): Promise<RoundResult> {
  const prefix = `n${index}`;
  if (call !== undefined) {
    const { way, step, nth } = call;
    return await runTask(place, { way, prefix, end: { kind: "step", step: `${step}:${nth}` }, isVerified });
  }
  const death: Death = { kind: "random", afterMs: Math.floor(random() * 300) };
  return await runRound(place, { prefix, deaths: [death], isVerified });
}

process.exitCode = await main();
