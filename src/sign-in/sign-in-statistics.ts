/** What has become of sign-ins, for monitoring. */
import type { BanStatistics } from "./failures/bans.ts";
import type { SignInOutcome, SignInProtocol } from "./sign-in.ts";

/**
 * Sign-ins since the start: `accepted`; `refused`, for a wrong password, key or user; `turned_away`, for too many before
 * it, or too many at once.
 */
type SignInCounts = Record<"accepted" | "refused" | "turned_away", number>;

export type CountedSignIns = Record<SignInProtocol, SignInCounts>;

export interface SignInStatistics {
  readonly signIns: Readonly<Record<SignInProtocol, Readonly<SignInCounts>>>;
  readonly bans: BanStatistics;
}

export function noSignIns(): CountedSignIns {
  const none = (): SignInCounts => ({ accepted: 0, refused: 0, turned_away: 0 });
  return { http: none(), sftp: none(), ftp: none() };
}

/** Counts an outcome and passes it on. */
export function counted(
  { counts }: { readonly counts: CountedSignIns },
  protocol: SignInProtocol,
  outcome: SignInOutcome,
): SignInOutcome {
  const ofProtocol = counts[protocol];
  if (outcome.kind === "signedIn") ofProtocol.accepted += 1;
  else if (outcome.code === "badCredentials") ofProtocol.refused += 1;
  else ofProtocol.turned_away += 1;
  return outcome;
}
