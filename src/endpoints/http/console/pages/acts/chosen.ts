/** What was chosen in a list, and what of it was not done. */
import type { NotDone } from "../../console-acts.ts";
import { type Content, html } from "../../kit/html.ts";
import { notice } from "../../kit/notice.ts";
import { shown } from "../../kit/shown-text.ts";
import { words } from "../../words/words.ts";

const longestReference = 64;

/** The references of a form, each once: one field for each, or one with all of them. */
export function chosenOf(form: URLSearchParams): readonly string[] {
  const all = form.getAll("of").flatMap((text) => text.split(","));
  return [...new Set(all.filter((one) => one !== "" && one.length <= longestReference))];
}

/** Why what was not done, gathered by the reason. */
export function notDoneList(groups: readonly NotDone[], linkOf: (reference: string) => Content): Content {
  return groups.map(({ why, of }) =>
    notice(
      "bad",
      html`<p>${words.deliveries.result.notDone(of.length)} ${shown(why)}</p><ul>${of.map(
        (reference) => html`<li>${linkOf(reference)}</li>`,
      )}</ul>`,
    ),
  );
}
