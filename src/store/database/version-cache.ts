/**
 * Results that are cached until the database changes: any commit, of this process or of another, invalidates all of
 * them. Each use first checks whether it has changed. So a cached result is never older than that of a query, and a change
 * takes effect at once.
 */
import type { Kysely } from "kysely";
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Tables } from "./schema.ts";

const versions = new WeakMap<Kysely<Tables>, () => number>();

/**
 * Sets how to read the version of what a reader sees: a number that every commit of another connection changes. Where nobody
 * tells of the commits of others, it changes when what was asked is sent: results are shared by those who ask before that.
 */
export function setDataVersion(read: Kysely<Tables>, versionOf: () => number): void {
  versions.set(read, versionOf);
}

/** Most results that are cached for one reader. */
const defaultMaxAnswers = 1_000;

/** The results of one version, those of running queries included. */
interface Kept<Value> {
  readonly version: number;
  readonly answers: BoundedMap<Promise<Value>>;
}

export interface Answers<Value> {
  /**
   * The cached result of the key, else that of `ask`. The key has to contain all that the result depends on. Within
   * transactions, and without a version, `ask` runs each time. Errors are not cached.
   */
  get(db: Kysely<Tables>, key: string, ask: () => Promise<Value>): Promise<Value>;
}

/** Makes a cache. */
export function createAnswers<Value>(maxAnswers = defaultMaxAnswers): Answers<Value> {
  const byReader = new WeakMap<Kysely<Tables>, Kept<Value>>();

  function keep({ answers }: Kept<Value>, key: string, answer: Promise<Value>): void {
    answers.set(key, answer);
    // A failed query runs again next time; the caller has the error.
    answer.catch(() => {
      if (answers.get(key) === answer) answers.delete(key);
    });
  }

  return {
    get(db, key, ask) {
      const versionOf = versions.get(db);
      if (versionOf === undefined) return ask();
      // Read before the query: a commit after it makes the result old at the next use.
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

/** Makes a query by one text cache its results. */
export function rememberAnswers<Value>(
  ask: (db: Kysely<Tables>, key: string) => Promise<Value>,
): (db: Kysely<Tables>, key: string) => Promise<Value> {
  const answers = createAnswers<Value>();
  return async (db, key) => await answers.get(db, key, () => ask(db, key));
}
