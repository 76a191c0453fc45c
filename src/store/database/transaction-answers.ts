/**
 * Answers that are kept as long as a transaction, which many units of work share: what they ask for again and again hardly
 * ever changes. They are forgotten when a unit is undone, because it may have changed what they say.
 */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

export interface TransactionAnswers<Value> {
  get(tx: Kysely<Tables>, key: number): Promise<Value>;
  /** Whoever writes what the answers say calls this before. */
  forget(tx: Kysely<Tables>): void;
}

const forgetters: ((tx: Kysely<Tables>) => void)[] = [];

/** Makes a query by a number remember its answers within a transaction. Called where modules are loaded, and not later. */
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

/** All that was asked in the transaction is asked again. */
export function forgetAnswers(tx: Kysely<Tables>): void {
  for (const forget of forgetters) forget(tx);
}
