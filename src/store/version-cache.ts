/**
 * Answers that are kept until the database changes: any commit, of this process or of another, makes all of them old. So
 * what is kept is never older than what a query would find, and a change takes effect at once.
 */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

const versions = new WeakMap<Kysely<Tables>, () => number>();

/** Says how to tell the version of what a reader sees: a number that every commit of another connection changes. */
export function setDataVersion(read: Kysely<Tables>, versionOf: () => number): void {
  versions.set(read, versionOf);
}

interface Kept<Value> {
  readonly version: number;
  readonly answers: Map<string, Promise<Value>>;
}

/** Most answers that are kept for one reader. */
const maxAnswers = 1_000;

/** Makes a query over one text remember its answers. Within transactions, and without a version, it asks each time. */
export function rememberAnswers<Value>(
  ask: (db: Kysely<Tables>, key: string) => Promise<Value>,
): (db: Kysely<Tables>, key: string) => Promise<Value> {
  const byReader = new WeakMap<Kysely<Tables>, Kept<Value>>();
  return (db, key) => {
    const versionOf = versions.get(db);
    if (versionOf === undefined) return ask(db, key);
    // Before the question: what is committed after it makes the answer old at the next look.
    const version = versionOf();
    let kept = byReader.get(db);
    if (kept === undefined || kept.version !== version || kept.answers.size >= maxAnswers) {
      kept = { version, answers: new Map() };
      byReader.set(db, kept);
    }
    const known = kept.answers.get(key);
    if (known !== undefined) return known;
    const answer = ask(db, key);
    const { answers } = kept;
    answers.set(key, answer);
    // A question that failed is asked again.
    answer.catch(() => answers.delete(key));
    return answer;
  };
}
