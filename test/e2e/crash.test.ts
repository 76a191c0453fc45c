/**
 * Twenty deaths in a row: each run of the daemon dies at another kill point or moment, in the work of this run or while it
 * takes up what the one before has left. Then one run in peace, and everything that was sent is looked at.
 *
 * The points are drawn by DROPGATE_CRASH_SEED. `node test/nightly/crash-rounds.ts` takes every point and looks after each.
 */
import { expect, test } from "vitest";
import { CrashCheck, untilQuiet } from "./crash-check.ts";
import { CrashHost } from "./crash-host.ts";
import { type Chain, chainsOf } from "./crash-orders.ts";
import { frequentPoints, randomOf } from "./crash-plan.ts";
import { CrashPlace, type Death, die } from "./crash-round.ts";

const roundCount = 20;
const randomEvery = 5;
const chainsInRound = 7;
/** A few points are not on the way of the chains that were drawn: others take their places. */
const maxDraws = 40;
const seed = Number(process.env["DROPGATE_CRASH_SEED"] ?? 1);
const random = randomOf(seed);

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ each }) => each);
}

function drawDeaths(): Death[] {
  const points = shuffled(frequentPoints);
  return Array.from({ length: maxDraws }, (_, index): Death => {
    const isRandom = index % randomEvery === randomEvery - 1;
    if (isRandom) return { kind: "random", afterMs: Math.floor(random() * 300) };
    return { kind: "point", point: `${points[index] ?? "ledger.inserted"}:${1 + Math.floor(random() * 2)}` };
  });
}

test(`what was answered is applied once or refused with its receipt, over ${roundCount} deaths (seed ${seed})`, async () => {
  const place = await CrashPlace.make();
  const { site, folders, hasOtherDisk } = place;
  try {
    const host = new CrashHost(site, folders);
    const chains: Chain[] = [];
    let sending: Promise<void> = Promise.resolve();
    let died = 0;
    for (const [index, death] of drawDeaths().entries()) {
      if (died === roundCount) break;
      const added = shuffled(chainsOf(`q${index}`, { hasOtherDisk })).slice(0, chainsInRound);
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
    expect(died).toBe(roundCount);
    await host.close();
  } finally {
    await place.end();
  }
}, 240_000);
