/**
 * Results that are cached until the database changes: any commit, of this process or of another, invalidates all of
 * them. Whether it has changed is checked before each use. So a cached result is never older than the one of a query,
 * and a change takes effect at once.
 */
import type { Kysely } from "kysely";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Tables } from "./schema.ts";

const versions = new WeakMap<Kysely<Tables>, () => number>();

/** Returns how to read the version of what a reader sees: a number that every commit of another connection changes. */
export function setDataVersion(read: Kysely<Tables>, versionOf: () => number): void {
  versions.set(read, versionOf);
}

/** Most results that are cached for one reader. */
const defaultMaxAnswers = 1_000;

/** The answers of one version, those that are still being asked for among them. */
interface Kept<Value> {
  readonly version: number;
  readonly answers: BoundedMap<Promise<Value>>;
}

export interface Answers<Value> {
  /**
   * What is kept under the key, else what `ask` finds. The key has to say all that the answer depends on. Within
   * transactions, and without a version, it is asked each time. What was refused is not kept.
   */
  get(db: Kysely<Tables>, key: string, ask: () => Promise<Value>): Promise<Value>;
}

/** Makes a cache. */
export function createAnswers<Value>(maxAnswers = defaultMaxAnswers): Answers<Value> {
  const byReader = new WeakMap<Kysely<Tables>, Kept<Value>>();

  function keep({ answers }: Kept<Value>, key: string, answer: Promise<Value>): void {
    answers.set(key, answer);
    // A question that failed is asked again; whoever asked has the error.
    answer.catch(() => {
      if (answers.get(key) === answer) answers.delete(key);
    });
  }

  return {
    get(db, key, ask) {
      const versionOf = versions.get(db);
      if (versionOf === undefined) return ask();
      // Before the question: what is committed after it makes the answer old at the next look.
      const version = versionOf();
      let kept = byReader.get(db);
      if (kept === undefined || kept.version !== version) {
        kept = { version, answers: new BoundedMap(maxAnswers) };
        byReader.set(db, kept);
      }
      const known = kept.answers.renew(key);
      if (known !== undefined) return known;
      const answer = ask();
      keep(kept, key, answer);
      return answer;
    },
  };
}

/** Makes a query over one text remember its answers. */
export function rememberAnswers<Value>(
  ask: (db: Kysely<Tables>, key: string) => Promise<Value>,
): (db: Kysely<Tables>, key: string) => Promise<Value> {
  const answers = createAnswers<Value>();
  return async (db, key) => await answers.get(db, key, () => ask(db, key));
}
