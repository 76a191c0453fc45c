/** Deaths one after the other, with a host that sends on; then one run in peace, and everything that was sent is looked at. */
import { join } from "node:path";
import { expect } from "vitest";
import { CrashCheck, untilQuiet } from "./crash-check.ts";
import type { OpenHostClient } from "./crash-client.ts";
import { CrashHost } from "./crash-host.ts";
import { type Chain, chainsOf } from "./crash-orders.ts";
import { randomOf } from "../support/random-numbers.ts";
import { stepsIn } from "./crash-plan.ts";
import { type CrashPlace, type Death, die } from "./crash-round.ts";

const randomEvery = 5;
const chainsInRound = 7;
/** A few steps are not on the way of the chains that were drawn: others take their places. */
const maxDraws = 40;
/** A step that was passed so often is passed by most chains. */
const oftenPassed = 5;
const ofFolders = /@(?:copy-files|place-files|settled-copies|take-settled)\b/;

type Random = () => number;

export interface DeathSeries {
  readonly roundCount: number;
  readonly seed: number;
  readonly open?: OpenHostClient;
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ each }) => each);
}

/** Sends everything there is to a daemon that lives, and gives the steps that it has passed often. */
async function learnSteps(place: CrashPlace, host: CrashHost, chains: readonly Chain[]): Promise<string[]> {
  const stepsFile = join(place.site.folder, "steps");
  await die(place, { kind: "peace", stepsFile }, { host, sending: host.send(chains) });
  const { all, start } = stepsIn(stepsFile);
  // At a step of each start nothing but starts would be seen, and files of folders, which wait for a scan, would never come.
  return [...all]
    .filter(([step, count]) => count >= oftenPassed && !start.has(step) && !ofFolders.test(step))
    .map(([step]) => step)
    .sort();
}

function drawDeaths(steps: readonly string[], random: Random): Death[] {
  const drawn = shuffled(steps, random);
  return Array.from({ length: maxDraws }, (_, index): Death => {
    const isRandom = index % randomEvery === randomEvery - 1;
    if (isRandom) return { kind: "random", afterMs: Math.floor(random() * 300) };
    const step = drawn[index % drawn.length];
    return { kind: "step", step: `${step}:${1 + Math.floor(random() * 2)}` };
  });
}

/** Lets the daemon of the place die so many times, and expects that nothing is lost, doubled or left over. */
export async function expectToSurvive(place: CrashPlace, series: DeathSeries): Promise<void> {
  const { site, folders, hasOtherDisk } = place;
  const random = randomOf(series.seed);
  const host = new CrashHost(site, folders, series.open);
  const chains: Chain[] = chainsOf("q", { hasOtherDisk });
  const steps = await learnSteps(place, host, chains);
  let sending: Promise<void> = Promise.resolve();
  let died = 0;
  for (const [index, death] of drawDeaths(steps, random).entries()) {
    if (died === series.roundCount) break;
    const added = shuffled(chainsOf(`q${index}`, { hasOtherDisk }), random).slice(0, chainsInRound);
    chains.push(...added);
    const [before, now] = [sending, host.send(added)];
    sending = Promise.all([before, now]).then(() => undefined);
    // Waited for at the end; a failure before that is told then.
    sending.catch(() => undefined);
    if (await die(place, death, { host, sending })) died += 1;
  }
  const run = await place.start({});
  if (run !== undefined) await host.connect(run);
  await sending;
  await untilQuiet(site, folders);
  const stops = chains.flatMap((chain) => chain.stops);
  expect(CrashCheck.run(site, host.sent.values(), stops)).toEqual([]);
  expect(await place.verifyLedger()).toEqual([]);
  expect(died).toBe(series.roundCount);
  await host.close();
}
