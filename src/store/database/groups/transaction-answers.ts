/**
 * Results that are cached as long as a transaction, which many units of work share: the same queries run in all of them,
 * and their results hardly ever change. The undo of a unit clears the cache, because the unit may have changed them.
 */
import type { Kysely } from "kysely";
import type { Tables } from "../schema.ts";

export interface TransactionAnswers<Value> {
  get(tx: Kysely<Tables>, key: number): Promise<Value>;
  /** Called before a write that changes the results. */
  forget(tx: Kysely<Tables>): void;
}

const forgetters: ((tx: Kysely<Tables>) => void)[] = [];

/** Makes a query by a number cache its results within a transaction. Called while modules load, and not later. */
export function rememberInTransaction<Value>(
  ask: (tx: Kysely<Tables>, key: number) => Promise<Value>,
): TransactionAnswers<Value> {
  const kept = new WeakMap<Kysely<Tables>, Map<number, Promise<Value>>>();
  const forget = (tx: Kysely<Tables>) => void kept.delete(tx);
  forgetters.push(forget);
  return {
    get(tx, key) {
      const answers = kept.get(tx) ?? new Map<number, Promise<Value>>();
      kept.set(tx, answers);
      const known = answers.get(key);
      if (known !== undefined) return known;
      const answer = ask(tx, key);
      answers.set(key, answer);
      return answer;
    },
    forget,
  };
}

/** Clears all caches of the transaction. */
export function forgetAnswers(tx: Kysely<Tables>): void {
  for (const forget of forgetters) forget(tx);
}
