/** The state of remotes, for people and for other processes; and requests for a poll. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { rememberAnswers } from "../database/version-cache.ts";

export interface RemoteName {
  readonly companyId: number;
  /** As in the configuration. */
  readonly remote: string;
}

/** What its poller knows after a poll; times are milliseconds UTC. */
export interface RemoteRounds {
  readonly polledAt: number | null;
  readonly succeededAt: number | null;
  /** Polls in a row that have failed. */
  readonly failures: number;
  /** 0 when it does not pause. */
  readonly pausedUntil: number;
  readonly fault: string | null;
  readonly faultText: string | null;
}

export interface RemoteState extends RemoteName, RemoteRounds {
  /** When somebody last requested a poll; 0 when nobody has. */
  readonly askedAt: number;
}

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

async function queryStates(read: Reader): Promise<readonly RemoteState[]> {
  const rows = await read.selectFrom("remote_states").selectAll().execute();
  return rows.map((row) => ({
    ...{ companyId: row.company_id, remote: row.remote, polledAt: row.polled_at, failures: row.failures },
    ...{ succeededAt: row.succeeded_at, pausedUntil: row.paused_until, askedAt: row.asked_at },
    ...{ fault: row.fault, faultText: row.fault_text },
  }));
}

const remembered = rememberAnswers(async (read) => await queryStates(read));

/**
 * All remotes that were ever polled or requested. The very same list as long as nobody has committed anything since.
 */
export function listRemoteStates(read: Reader): Promise<readonly RemoteState[]> {
  return remembered(read, "");
}
