/** The state of remotes, for people and for other processes; and requests for a poll. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, type RowOf } from "../database/named-rows.ts";
import { rememberAnswers } from "../database/version-cache.ts";

export interface RemoteName {
  readonly companyId: number;
  /** As in the configuration. */
  readonly remote: string;
}

/**
 * `askedAt`: when somebody last requested a poll; 0 when nobody has. `answeredAskedAt`: the request that a poll has
 * answered, by its `askedAt`. They are compared with each other alone, so that a clock that is set back hides no request.
 */
export type RemoteState = RowOf<"remote_states">;

/** Whether somebody has requested a poll, and none that began afterwards has ended. */
export function isPollAwaited(state: Pick<RemoteState, "askedAt" | "answeredAskedAt">): boolean {
  return state.askedAt !== state.answeredAskedAt;
}

/** What its poller knows after a poll. */
export type RemoteRounds = Omit<RemoteState, keyof RemoteName | "askedAt">;

/** Writes the state of a remote. Without a time of the last success, or an answered request, the stored one stays. */
export async function saveRemoteRounds(tx: Transaction, state: RemoteName & RemoteRounds): Promise<void> {
  const rounds = {
    ...{ polled_at: state.polledAt, failures: state.failures, paused_until: state.pausedUntil },
    ...{ fault: state.fault, fault_text: state.faultText },
    ...(state.succeededAt === null ? {} : { succeeded_at: state.succeededAt }),
    ...(state.answeredAskedAt === 0 ? {} : { answered_asked_at: state.answeredAskedAt }),
  };
  await tx
    .insertInto("remote_states")
    .values({ company_id: state.companyId, remote: state.remote, ...rounds })
    .onConflict((conflict) => conflict.columns(["company_id", "remote"]).doUpdateSet(rounds))
    .execute();
}

/** Requests a poll of the remote, whatever it waits for. */
export async function askForRemote(
  tx: Transaction,
  { companyId, remote, now }: RemoteName & { readonly now: number },
): Promise<void> {
  const asked = { asked_at: now };
  await tx
    .insertInto("remote_states")
    .values({ company_id: companyId, remote, ...asked })
    .onConflict((conflict) => conflict.columns(["company_id", "remote"]).doUpdateSet(asked))
    .execute();
}

const remembered = rememberAnswers(async (read): Promise<readonly RemoteState[]> => {
  return (await read.selectFrom("remote_states").selectAll().execute()).map(named);
});

/** All remotes that were ever polled or requested: the very same list until the next commit. */
export function listRemoteStates(read: Reader): Promise<readonly RemoteState[]> {
  return remembered(read, "");
}
