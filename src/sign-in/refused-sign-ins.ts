/**
 * The last refused sign-ins of each user, for those who administer it: "the password does not work" has several causes,
 * and whoever signs in is told none of them. In memory, bounded, and empty after a start.
 *
 * A name may stand in several companies for different people: each record has what became of it alone, and nothing when
 * another one of the name was signed in to.
 */
import { BoundedMap } from "../lib/bounded-map.ts";
import type { RefusalReason } from "./sign-in-refusals.ts";
import type { SignInProtocol } from "./sign-in.ts";

/** Attempts of one address, over one protocol, for one reason, that came without others between them. */
export interface RefusedSignIn {
  readonly address: string;
  readonly protocol: SignInProtocol;
  readonly reason: RefusalReason;
  /** The newest of them, milliseconds UTC. */
  readonly at: number;
  readonly times: number;
}

/** What one record of the name has to do with a refusal. */
export type ReasonOfUser = ReadonlyMap<number, RefusalReason>;

/** Some 10 MB when all are full. */
const mostUsers = 10_000;
const mostOfUser = 10;

export class RefusedSignIns {
  readonly #ofUser = new BoundedMap<readonly RefusedSignIn[]>(mostUsers);

  /** Notes the attempt for each record that it was refused by. */
  note(attempt: Pick<RefusedSignIn, "address" | "protocol" | "at">, reasons: ReasonOfUser): void {
    const { address, protocol, at } = attempt;
    for (const [userId, reason] of reasons) {
      const known = this.of(userId);
      const [newest, ...older] = known;
      const isSame = newest?.address === address && newest.protocol === protocol && newest.reason === reason;
      const times = isSame ? newest.times + 1 : 1;
      const kept = isSame ? older : known.slice(0, mostOfUser - 1);
      this.#ofUser.set(String(userId), [{ address, protocol, reason, at, times }, ...kept]);
    }
  }

  /** The newest first. */
  of(userId: number): readonly RefusedSignIn[] {
    return this.#ofUser.get(String(userId)) ?? [];
  }
}
