/** Forms: filters that stand in the address, and acts with their reason. */
import { words } from "../words/words.ts";
import { areaField, hiddenField, submitButton } from "./fields.ts";
import { type Content, type Html, html } from "./html.ts";
import { link } from "./link.ts";

/** Longest reason of an act, in characters. */
export const longestReason = 500;

export interface FilterForm {
  /** The address of the list, without its query. */
  readonly action: string;
  /** Made with `textField` and the others. */
  readonly fields: Content;
  /** Whether a filter is set, so that a link to the whole list is offered. */
  readonly isFiltered: boolean;
}

/** The filters of a list; what is chosen stands in the address. */
export function filterForm({ action, fields, isFiltered }: FilterForm): Html {
  return html`<form class="filter" method="get" action="${action}" role="search" aria-label="${words.kit.filter}">${fields}<div class="field buttons">${submitButton(
    words.kit.show,
  )}${isFiltered ? link(action, words.kit.withoutFilter) : ""}</div></form>`;
}

export interface ReasonForm {
  /** Unique on the page; letters, digits and dashes. */
  readonly id: string;
  readonly action: string;
  readonly formToken: string;
  /** What is done, on the button that opens the form and on the one that sends it. */
  readonly label: string;
  /** What happens then, and what cannot be taken back. */
  readonly explanation: Content;
  /** Further fields, hidden ones among them. */
  readonly fields?: Content;
  /** What is wrong with the reason that was given; the form is open then. */
  readonly error?: string | undefined;
  readonly reason?: string;
  readonly isOpen?: boolean;
  /** What opens the form is another page: it is open, and nothing closes it. */
  readonly isAlone?: boolean;
  /** On the button that opens the form, when it is not what is done. */
  readonly opener?: string;
}

/** An act: a button that opens a form, which asks for the reason. */
export function reasonForm(form: ReasonForm): Html {
  const { id, action, formToken, label, explanation, fields, error, reason = "", isOpen = false } = form;
  const { opener = label, isAlone = false } = form;
  const reasonField = areaField({
    ...{ name: "reason", id: `${id}-reason`, label: words.kit.reason, hint: words.kit.reasonHint },
    ...{ value: reason, error, isRequired: true, maxLength: longestReason, rows: 2 },
  });
  const open = isOpen || isAlone || error !== undefined ? html` open` : "";
  return html`<details class="act${isAlone ? " alone" : ""}" id="${id}"${open}><summary class="button">${opener}</summary><form method="post" action="${action}">${hiddenField(
    "formToken",
    formToken,
  )}<div class="explanation">${explanation}</div>${fields}${reasonField}<div class="buttons">${submitButton(label)}</div></form></details>`;
}
