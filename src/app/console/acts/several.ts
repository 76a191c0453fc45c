/** Acts on several things: each is done that still can be, a few in a unit of work, as the daemon's commits wait for it. */
import {
  mostAtOnce,
  type SeveralAsked,
  type SeveralDone,
} from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { DropgateError } from "../../../lib/errors.ts";
import { portionsOf } from "../../../lib/portions.ts";
import { itemsAtOnce } from "../../admin/in-batches.ts";
import { meanwhile, type RunningAct } from "../running-act.ts";

/** What became of one of them. */
export type ItemOutcome =
  | { readonly of: string; readonly kind: "done" }
  | { readonly of: string; readonly kind: "notThere" }
  /** It is not any more what it was when it was looked at, or cannot be done with it. */
  | { readonly of: string; readonly kind: "changed"; readonly subject: string; readonly why: string };

async function whyNot(act: RunningAct, seenAt: number, outcome: ItemOutcome): Promise<string | undefined> {
  if (outcome.kind === "done") return undefined;
  if (outcome.kind === "notThere") return actWords.notThere;
  const since = await meanwhile(act, { ...outcome, seenAt }, outcome.why);
  return since.kind === "doneBefore" ? undefined : since.why;
}

/** Does all of them; what is asked for twice is done once. */
export async function doSeveral(
  act: RunningAct,
  { of, seenAt }: SeveralAsked,
  doSome: (references: readonly string[]) => Promise<readonly ItemOutcome[]>,
): Promise<SeveralDone> {
  const wanted = [...new Set(of)];
  if (wanted.length > mostAtOnce) throw new DropgateError("tooLarge", actWords.tooMany(mostAtOnce));
  const outcomes: ItemOutcome[] = [];
  for (const some of portionsOf(wanted, itemsAtOnce)) outcomes.push(...(await doSome(some)));
  const notDone = new Map<string, string[]>();
  for (const outcome of outcomes) {
    const why = await whyNot(act, seenAt, outcome);
    if (why !== undefined) notDone.set(why, [...(notDone.get(why) ?? []), outcome.of]);
  }
  const groups = [...notDone].map(([why, ofThese]) => ({ why, of: ofThese }));
  return { done: outcomes.length - groups.reduce((sum, group) => sum + group.of.length, 0), notDone: groups };
}
