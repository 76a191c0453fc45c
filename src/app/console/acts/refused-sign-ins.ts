/** Why a user was not let in, from the memory of sign-in, for who administers it. */
import type { ShownRefusedSignIn } from "../../../endpoints/http/console/console-acts.ts";
import { companiesFor, type ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import { findUserById } from "../../../store/accounts/users.ts";
import type { ActContext } from "../act-context.ts";

/** The newest first. */
export async function lookAtRefusedSignIns(
  { store, clock, signIns }: ActContext,
  user: ConsoleUser,
  { userId }: { readonly userId: number },
): Promise<readonly ShownRefusedSignIn[]> {
  const record = await findUserById(store.read, userId);
  const own = new Set(companiesFor(user, "act").map(({ id }) => id));
  const isOwn = record?.memberships.some(({ companyId }) => own.has(companyId)) ?? false;
  if (!user.isOperator && !isOwn) return [];
  return signIns.refusedOf(userId).map((refused) => {
    const bannedForMs = signIns.bannedForMs(refused.address);
    return { ...refused, bannedUntil: bannedForMs === 0 ? undefined : clock.now() + bannedForMs };
  });
}
