import type { Answer } from "../../server/answer.ts";
import type { ConsoleRequest } from "../console-route.ts";
import type { ConsoleServices } from "../console-services.ts";
import { html } from "../kit/html.ts";
import { addresses, link } from "../kit/link.ts";
import { notice } from "../kit/notice.ts";
import { page } from "../kit/page.ts";
import { words } from "../words/words.ts";

/** The page for what is not there, and for what belongs to others: nobody can tell the two from each other. `find`: what to look for instead. */
export function notFoundPage(
  services: Pick<ConsoleServices, "basePath">,
  request: ConsoleRequest,
  { text, find }: { readonly text: string; readonly find?: string },
): Answer {
  const { title, findIt } = words.notFound;
  const search =
    find === undefined ? undefined : link(addresses(services).at("/find", { q: find }), findIt(find));
  const content = notice("bad", html`<p>${text} ${search}</p>`);
  return page(services, request, { title, here: undefined, content, status: 404 });
}
