/** What was chosen in a list, and what of it was not done. */
import type { Answer } from "../../../server/answer.ts";
import type { NotDone, SeveralDone } from "../../console-acts.ts";
import type { ConsoleRequest } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { type Content, html } from "../../kit/html.ts";
import { link } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { sentence, shortened } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";

const longestReference = 64;

/** The references of a form, each once: one field for each, or one with all of them. */
export function chosenOf(form: URLSearchParams): readonly string[] {
  const all = form.getAll("of").flatMap((text) => text.split(","));
  return [...new Set(all.filter((one) => one !== "" && one.length <= longestReference))];
}

/** Why what was not done, gathered by the reason. */
function notDoneList(groups: readonly NotDone[], linkOf: (reference: string) => Content): Content {
  return groups.map(({ why, of }) =>
    notice(
      "bad",
      html`<p>${words.deliveries.result.notDone(of.length)} ${sentence(why)}</p><ul>${of.map(
        (reference) => html`<li>${linkOf(reference)}</li>`,
      )}</ul>`,
    ),
  );
}

/** The list that it was chosen in. */
interface ChosenFrom {
  readonly here: "deliveries" | "files";
  readonly text: string;
  readonly href: string;
  /** The address of one of them. */
  readonly addressOf: (reference: string) => string;
}

/** What was done and what was not, when not all was. `names`: by reference. */
export function resultPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  {
    outcome,
    names,
    list,
  }: {
    readonly outcome: SeveralDone;
    readonly names: ReadonlyMap<string, string>;
    readonly list: ChosenFrom;
  },
): Answer {
  const { here, text, href, addressOf } = list;
  const { result } = words.deliveries;
  const linkOf = (reference: string) =>
    link(addressOf(reference), shortened(names.get(reference) ?? reference, 80));
  return page(services, request, {
    ...{ title: result.title, here, status: outcome.done === 0 ? 409 : 200 },
    trail: [{ text, href }],
    content: [
      notice(outcome.done === 0 ? "off" : "ok", result.done(outcome.done)),
      notDoneList(outcome.notDone, linkOf),
      html`<p>${link(href, text)}</p>`,
    ],
  });
}
