import type { SignedInUser } from "./sign-in.ts";

export interface ExchangeCompany {
  readonly id: number;
  readonly code: string;
}

/** Where the user may exchange files (decisions 1); an empty list lets it in nowhere. */
export function exchangeCompaniesOf(user: SignedInUser): readonly ExchangeCompany[] {
  return user.memberships
    .filter(({ roles }) => roles.includes("DI_Integration"))
    .map(({ companyId, companyCode }) => ({ id: companyId, code: companyCode }));
}

/**
 * Why a connection of this user has to end, in words for the log; undefined when the user, as signing in would give it
 * now, still has all that the connection stands on.
 */
export function lossSince(user: SignedInUser, now: SignedInUser | undefined): string | undefined {
  if (now === undefined) return "the user may not sign in any more";
  const kept = new Set(exchangeCompaniesOf(now).map(({ id }) => id));
  return exchangeCompaniesOf(user).every(({ id }) => kept.has(id)) ? undefined : "the user lost its role";
}
