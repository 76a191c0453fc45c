/** Parts of a page. */
import { type Content, type Html, html } from "./html.ts";

export interface SectionOptions {
  /** The place that addresses and live updates name; letters, digits and dashes. */
  readonly id?: string;
  /** Links or buttons beside the heading. */
  readonly tools?: Content;
}

/** A part of the page with its heading of the second order. */
export function section(title: string, content: Content, { id, tools }: SectionOptions = {}): Html {
  const place = id === undefined ? "" : html` id="${id}"`;
  const beside = tools === undefined ? "" : html`<div class="tools">${tools}</div>`;
  return html`<section${place}><div class="head"><h2>${title}</h2>${beside}</div>${content}</section>`;
}

/** A part that opens on demand. */
export function details(summary: Content, content: Content, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : ""}><summary>${summary}</summary>${content}</details>`;
}

/** Things beside each other that wrap on a narrow screen: tiles, two versions of a text. */
export function columns(...contents: readonly Content[]): Html {
  return html`<div class="columns">${contents.map((content) => html`<div class="column">${content}</div>`)}</div>`;
}

/** A list of terms and what is said of each; rows without content are left out. */
export function facts(rows: readonly (readonly [term: string, content: Content])[]): Html {
  const given = rows.filter(
    ([, content]) => content !== undefined && content !== null && content !== false && content !== "",
  );
  return html`<dl class="facts">${given.map(
    ([term, content]) => html`<div><dt>${term}</dt><dd>${content}</dd></div>`,
  )}</dl>`;
}
