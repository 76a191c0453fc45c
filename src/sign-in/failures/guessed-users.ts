/**
 * Users whose password is guessed at from several addresses: a stranger may try one once a minute.
 *
 * Names that exist are counted apart from names that do not, so that made-up names cannot push out the count of a real one;
 * both cost the same and are refused alike.
 */
import { hash as digestOf } from "node:crypto";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { type Scored, ScoreBoard, type ScoreWindow } from "./score-board.ts";

const maxUserNames = 10_000;
/** Some 40 MB when all are full, with those of addresses. */
const maxStrangers = 50_000;
/** How often a stranger may try a user that is guessed at. */
const strangersTryEveryMs = 60_000;

/** A name that somebody tries, whether there is a user of it or not. */
export interface GuessedName {
  readonly userName: string;
  readonly isKnownUser: boolean;
}

/** Points by user name. One address alone slows nobody: it is banned itself before that. */
class UserCounts {
  readonly #board = new ScoreBoard(maxUserNames);
  readonly #sources = new BoundedMap<{ readonly lastKey: string; readonly spreadUntil: number }>(
    maxUserNames,
  );

  isGuessedAt(name: string, limit: number, window: ScoreWindow): boolean {
    const source = this.#sources.get(name);
    return (
      source !== undefined && source.spreadUntil > window.now && this.#board.reaches(name, limit, window)
    );
  }

  add(name: string, addressKey: string, scored: Scored, window: ScoreWindow): void {
    this.#board.add(name, scored, window);
    const before = this.#sources.get(name);
    const isOther = before !== undefined && before.lastKey !== addressKey;
    const spreadUntil = isOther ? scored.at + window.windowMs : (before?.spreadUntil ?? 0);
    this.#sources.set(name, { lastKey: addressKey, spreadUntil });
  }
}

/** What the points of a name are counted under. A name of any length takes bounded memory. */
export function subjectOf({ userName, isKnownUser }: GuessedName): string {
  return `${isKnownUser ? "known" : "unknown"} ${digestOf("sha256", userName, "base64")}`;
}

export class GuessedUsers {
  readonly #known = new UserCounts();
  readonly #unknown = new UserCounts();
  /** When a stranger last tried a user. */
  readonly #triedAt = new BoundedMap<number>(maxStrangers);

  /** `subject` is one of `subjectOf`. */
  add(subject: string, addressKey: string, scored: Scored, window: ScoreWindow): void {
    this.#countsOf(subject).add(subject, addressKey, scored, window);
  }

  isGuessedAt(subject: string, limit: number, window: ScoreWindow): boolean {
    return this.#countsOf(subject).isGuessedAt(subject, limit, window);
  }

  noteTry(subject: string, addressKey: string, now: number): void {
    this.#triedAt.set(`${addressKey} ${subject}`, now);
  }

  /** Milliseconds until a stranger that has tried the user may do so again, if it is guessed at. */
  waitsForMs(subject: string, addressKey: string, now: number): number {
    const last = this.#triedAt.get(`${addressKey} ${subject}`);
    return last === undefined ? 0 : Math.min(strangersTryEveryMs, last + strangersTryEveryMs - now);
  }

  #countsOf(subject: string): UserCounts {
    return subject.startsWith("known ") ? this.#known : this.#unknown;
  }
}
