/** One of the last requests, by the id that its client was told; of other companies nothing is told. */
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { FoundRequest, RequestAsked } from "../../../endpoints/http/console/console-acts.ts";
import { companiesFor, type ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import type { ActContext } from "../act-context.ts";

export async function findRequest(
  { requests }: Pick<ActContext, "requests">,
  user: ConsoleUser,
  { requestId }: RequestAsked,
): Promise<FoundRequest | undefined> {
  const found = requests.find(requestId);
  const isSeen =
    user.isOperator ||
    companiesFor(user, "look").some(({ code }) => isSameCompanyCode(code, found?.company ?? ""));
  return isSeen ? found : undefined;
}
