/**
 * Answers that are kept until the database changes: any commit, of this process or of another, makes all of them old. So
 * what is kept is never older than what a query would find, and a change takes effect at once.
 *
 * Whether it has changed is asked before each answer, but once only for the requests of one turn (`lib/request-turn.ts`).
 */
import type { Kysely } from "kysely";
import { type BoundedMap, createSizedMap } from "../../lib/bounded-map.ts";
import { currentTurn } from "../../lib/request-turn.ts";
import type { Tables } from "./schema.ts";

interface Look {
  readonly versionOf: () => number;
  turn: number | undefined;
  version: number;
}

const looks = new WeakMap<Kysely<Tables>, Look>();

/** Says how to tell the version of what a reader sees: a number that every commit of another connection changes. */
export function setDataVersion(read: Kysely<Tables>, versionOf: () => number): void {
  looks.set(read, { versionOf, turn: undefined, version: 0 });
}

function versionNow(look: Look): number {
  const turn = currentTurn();
  if (turn === undefined || turn !== look.turn) {
    look.version = look.versionOf();
    look.turn = turn;
  }
  return look.version;
}

export interface AnswerLimits<Value> {
  /** Most answers that are kept for one reader. */
  readonly maxAnswers: number;
  /** Most bytes of them, as `sizeOf` counts; what is larger than half of it is not kept. */
  readonly maxBytes: number;
  readonly sizeOf: (value: Value) => number;
}

/** The answers of one version. */
interface Kept<Value> {
  readonly version: number;
  readonly answers: BoundedMap<Value>;
  /** Questions that are being asked, for whoever asks the same meanwhile. */
  readonly underWay: Map<string, Promise<Value>>;
}

export interface Answers<Value> {
  /**
   * What is kept under the key, at once; else what `ask` finds. The key has to say all that the answer depends on.
   * Within transactions, and without a version, it is asked each time. What was refused is not kept.
   */
  get(db: Kysely<Tables>, key: string, ask: () => Promise<Value>): Value | Promise<Value>;
}

/** Makes a place for answers. */
export function createAnswers<Value>(limits: AnswerLimits<Value>): Answers<Value> {
  const byReader = new WeakMap<Kysely<Tables>, Kept<Value>>();
  const bounds = { maxKeys: limits.maxAnswers, maxSize: limits.maxBytes, sizeOf: limits.sizeOf };

  function keep({ answers, underWay }: Kept<Value>, key: string, answer: Promise<Value>): void {
    underWay.set(key, answer);
    const settle = (value?: Value) => {
      underWay.delete(key);
      if (value !== undefined) answers.set(key, value);
    };
    // A question that failed is asked again; whoever asked has the error.
    answer.then(settle, () => settle());
  }

  return {
    get(db, key, ask) {
      const look = looks.get(db);
      if (look === undefined) return ask();
      // Before the question: what is committed after it makes the answer old at the next look.
      const version = versionNow(look);
      let kept = byReader.get(db);
      if (kept === undefined || kept.version !== version) {
        kept = { version, answers: createSizedMap(bounds), underWay: new Map() };
        byReader.set(db, kept);
      }
      const known = kept.answers.renew(key) ?? kept.underWay.get(key);
      if (known !== undefined) return known;
      const answer = ask();
      keep(kept, key, answer);
      return answer;
    },
  };
}

/** A thousand answers, of whatever size. */
export function createFewAnswers<Value>(): Answers<Value> {
  return createAnswers<Value>({ maxAnswers: 1_000, maxBytes: 1_000, sizeOf: () => 1 });
}

/** Makes a query over one text remember its answers, at most a thousand for each reader. */
export function rememberAnswers<Value>(
  ask: (db: Kysely<Tables>, key: string) => Promise<Value>,
): (db: Kysely<Tables>, key: string) => Promise<Value> {
  const answers = createFewAnswers<Value>();
  return async (db, key) => await answers.get(db, key, () => ask(db, key));
}
