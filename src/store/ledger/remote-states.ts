/** The state of remotes, for people and for other processes; and requests for a poll. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { named, type RowOf } from "../database/named-rows.ts";
import { rememberAnswers } from "../database/version-cache.ts";

export interface RemoteName {
  readonly companyId: number;
  /** As in the configuration. */
  readonly remote: string;
}

/** `askedAt`: when somebody last requested a poll; 0 when nobody has. */
export type RemoteState = RowOf<"remote_states">;

/** What its poller knows after a poll. */
export type RemoteRounds = Omit<RemoteState, keyof RemoteName | "askedAt">;

/** Writes the state of a remote. Without a time of the last success the stored one stays. */
export async function saveRemoteRounds(tx: Transaction, state: RemoteName & RemoteRounds): Promise<void> {
  const rounds = {
    ...{ polled_at: state.polledAt, failures: state.failures, paused_until: state.pausedUntil },
    ...{ fault: state.fault, fault_text: state.faultText },
    ...(state.succeededAt === null ? {} : { succeeded_at: state.succeededAt }),
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
