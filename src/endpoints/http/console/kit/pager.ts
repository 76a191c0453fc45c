/** Links to the pages of a long list, which are asked for by key: there is no number of pages to show. */
import { words } from "../words/words.ts";
import { type Html, html } from "./html.ts";
import { link } from "./link.ts";

export interface Pages {
  /** Address of the newest; undefined on the first page. */
  readonly first?: string | undefined;
  /** Address of what comes behind, which is older; undefined when this is all. */
  readonly next?: string | undefined;
}

export function pager({ first, next }: Pages): Html {
  if (first === undefined && next === undefined) return html``;
  return html`<nav class="pager" aria-label="${words.kit.pages}"><ul>${
    first === undefined ? "" : html`<li>${link(first, words.kit.firstPage)}</li>`
  }${next === undefined ? "" : html`<li><a rel="next" href="${next}">${words.kit.nextPage}</a></li>`}</ul></nav>`;
}
