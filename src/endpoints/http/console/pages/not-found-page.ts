import type { Answer } from "../../server/answer.ts";
import type { ConsoleRequest } from "../console-route.ts";
import type { ConsoleServices } from "../console-services.ts";
import { notice } from "../kit/notice.ts";
import { page } from "../kit/page.ts";
import { words } from "../words/words.ts";

/** The page for what is not there, and for what belongs to others: nobody can tell the two from each other. */
export function notFoundPage(
  services: Pick<ConsoleServices, "basePath">,
  request: ConsoleRequest,
  text: string,
): Answer {
  const { title } = words.notFound;
  return page(services, request, { title, here: undefined, content: notice("bad", text), status: 404 });
}
