/**
 * Many deaths in a row: each run of the daemon dies at another step or moment, in the work of this run or while it
 * takes up what the one before has left. Then one run in peace, and everything that was sent is looked at.
 *
 * The steps are drawn by DROPGATE_CRASH_SEED. `node test/nightly/crash-rounds.ts` takes every step and looks after each.
 */
import { onTestFinished, test } from "vitest";
import { CrashPlace } from "./crash-round.ts";
import { expectToSurvive } from "./crash-series.ts";
import { amount } from "../support/sampled.ts";

const roundCount = amount(4, 20);
const seed = Number(process.env["DROPGATE_CRASH_SEED"] ?? 1);

test(`what was answered is applied once or refused with its receipt, over ${roundCount} deaths (seed ${seed})`, async () => {
  const place = await CrashPlace.make();
  // What ends badly after a failure is told beside it, and not in its place.
  onTestFinished(() => place.end());
  await expectToSurvive(place, { roundCount, seed });
});
