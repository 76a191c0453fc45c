import type { CurrentUser, SignedInUser } from "../../sign-in/sign-in.ts";

export interface ExchangeCompany {
  readonly id: number;
  readonly code: string;
}

/**
 * Where the user may exchange files (specification/accounts.md#roles-of-operations); an empty list lets it in nowhere.
 */
export function exchangeCompaniesOf(user: Pick<SignedInUser, "memberships">): readonly ExchangeCompany[] {
  return user.memberships
    .filter(({ roles }) => roles.includes("DI_Integration"))
    .map(({ companyId, companyCode }) => ({ id: companyId, code: companyCode }));
}

/**
 * Why a connection of this user has to end, for the log; undefined when the user, as it is now, still has everything
 * that the connection rests on. A changed password ends all connections of the user, those that a key has opened too:
 * whoever changes a password wants everybody signed out.
 */
export function lossSince(user: SignedInUser, now: CurrentUser | undefined): string | undefined {
  if (now === undefined) return "the user may not sign in any more";
  const { passwordVersion, keyBlob } = user.proof;
  if (now.passwordVersion !== passwordVersion) return "the password was changed";
  if (keyBlob !== undefined && !now.keyBlobs.has(keyBlob)) return "the key was removed";
  const kept = new Set(exchangeCompaniesOf(now).map(({ id }) => id));
  return exchangeCompaniesOf(user).every(({ id }) => kept.has(id)) ? undefined : "the user lost its role";
}
