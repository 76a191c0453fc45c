/** Which deliveries nobody has fetched in time: those that page 1 counts. */
import type { UncollectedDeliveries } from "../../../endpoints/http/console/console-acts.ts";
import { companiesFor, type ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import type { ActContext } from "../act-context.ts";

export async function lookAtUncollected(
  { collectionWatch }: Pick<ActContext, "collectionWatch">,
  user: ConsoleUser,
): Promise<UncollectedDeliveries> {
  const found = companiesFor(user, "look").map(({ code }) => collectionWatch.uncollectedOf(code));
  return { ids: found.flatMap((one) => one?.deliveryIds ?? []) };
}
