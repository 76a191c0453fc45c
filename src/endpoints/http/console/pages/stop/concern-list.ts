import { type Html, html } from "../../kit/html.ts";
import { link } from "../../kit/link.ts";
import { notice, remedy } from "../../kit/notice.ts";
import { shown } from "../../kit/shown-text.ts";
import type { Concern } from "./stop-concerns.ts";

/** Concerns, each with what to do and its link; `fine` when there are none. */
export function concernList(concerns: readonly Concern[], fine: string): Html | readonly Html[] {
  if (concerns.length === 0) return notice("ok", html`<p>${fine}</p>`);
  return concerns.map(({ kind, text, remedies, href }) => {
    const said = href === undefined ? shown(text) : link(href, shown(text));
    return html`${notice(kind, html`<p>${said}</p>`)}${remedies.map((one) => remedy(one))}`;
  });
}
