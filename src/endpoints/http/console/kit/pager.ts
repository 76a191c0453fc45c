/** Links to the pages of a long list, which are asked for by key: there is no number of pages to show. */
import { words } from "../words/words.ts";
import { type Html, html } from "./html.ts";
import { link } from "./link.ts";

export interface Pages {
  /** Address of the newest; undefined on the first page. */
  readonly first?: string | undefined;
  /** Address of what comes before, which is newer; where the list can be gone back. */
  readonly previous?: string | undefined;
  /** Address of what comes behind, which is older; undefined when this is all. */
  readonly next?: string | undefined;
  /** The time was over before the page was full: the next one goes on with the search. */
  readonly isSearch?: boolean;
}

export function pager({ first, previous, next, isSearch = false }: Pages): Html {
  if ([first, previous, next].every((address) => address === undefined)) return html``;
  return html`<nav class="pager" aria-label="${words.kit.pages}"><ul>${
    first === undefined ? "" : html`<li>${link(first, words.kit.firstPage)}</li>`
  }${previous === undefined ? "" : html`<li><a rel="prev" href="${previous}">${words.kit.previousPage}</a></li>`}${next === undefined ? "" : html`<li><a rel="next" href="${next}">${isSearch ? words.kit.searchOn : words.kit.nextPage}</a></li>`}</ul></nav>`;
}
