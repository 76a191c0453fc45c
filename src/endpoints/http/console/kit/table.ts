/** Tables. A wide one scrolls in a region of its own, so that the page never does. */
import { type Content, type Html, html } from "./html.ts";
import { nothing } from "./notice.ts";

/** A column: its heading, or that of numbers, which stand at the right. */
export type Column = string | { readonly text: string; readonly isNumber?: boolean };

/** The cells of a row; the first is its heading, and should have the link to what the row is about. */
export type Row = readonly Content[];

export interface TableOptions {
  /** What the table shows; read out before it. */
  readonly caption: string;
  /** What to say when there is no row. */
  readonly empty: Content;
  /** The place that live updates name. */
  readonly id?: string;
  /** The caption is for screen readers alone, where a heading says the same. */
  readonly isCaptionHidden?: boolean;
}

interface ShownColumn {
  readonly text: string;
  readonly isNumber?: boolean;
}

function shownColumn(column: Column): ShownColumn {
  return typeof column === "string" ? { text: column } : column;
}

function cell(content: Content, index: number, columns: readonly ShownColumn[]): Html {
  const kind = columns[index]?.isNumber === true ? html` class="number"` : "";
  if (index === 0) return html`<th scope="row"${kind}>${content}</th>`;
  // Narrow screens show a row as a list, where each cell needs its heading.
  return html`<td${kind} data-label="${columns[index]?.text ?? ""}">${content}</td>`;
}

export function table(head: readonly Column[], rows: readonly Row[], options: TableOptions): Html {
  const { caption, empty, id, isCaptionHidden = false } = options;
  const place = id === undefined ? "" : html` id="${id}"`;
  if (rows.length === 0) return html`<div${place}>${nothing(empty)}</div>`;
  const columns = head.map(shownColumn);
  const headings = columns.map(
    ({ text, isNumber }) =>
      html`<th scope="col"${isNumber === true ? html` class="number"` : ""}>${text}</th>`,
  );
  const body = rows.map(
    (row) => html`<tr>${row.map((content, index) => cell(content, index, columns))}</tr>`,
  );
  return html`<div class="table"${place} role="group" aria-label="${caption}" tabindex="0"><table>
<caption${isCaptionHidden ? html` class="unseen"` : ""}>${caption}</caption>
<thead><tr>${headings}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}
