/** A document with the numbers of its lines, and what is wrong with a line below it. */
import { visible } from "../../../../../lib/logs/visible-text.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { words } from "../../words/words.ts";
import type { ShownLine } from "./file-view.ts";

const said = words.file;

export interface LineRemark {
  readonly line: number;
  readonly content: Content;
}

/** Tabs stay; all else that nobody would see, or that turns the order of reading, is made visible. */
function lineText(text: string): string {
  return text.replace(/[^\t]+/g, visible);
}

function remarksOf(remarks: readonly LineRemark[], number: number): readonly Html[] {
  const own = remarks.filter(({ line }) => line === number);
  return own.map(({ content }) => html`<li class="code-fault bad">${content}</li>`);
}

function gapBefore(lines: readonly ShownLine[], index: number): Html | undefined {
  const [before, line] = [lines[index - 1]?.number ?? lines[0]?.number, lines[index]?.number];
  const isGap = before !== undefined && line !== undefined && line > before + 1;
  return isGap ? html`<li class="code-gap" aria-hidden="true">${said.leftOut}</li>` : undefined;
}

/** The lines, each with its number and its remarks; places of the page are `line-<number>`. */
export function codeListing(
  lines: readonly ShownLine[],
  remarks: readonly LineRemark[],
  label: string,
): Html {
  const faulty = new Set(remarks.map(({ line }) => line));
  const rows = lines.map(({ number, text, isCut }, index) => {
    const kind = faulty.has(number) ? " faulty" : "";
    const cut = isCut ? html`<span class="code-cut">${said.cut}</span>` : undefined;
    return html`${gapBefore(lines, index)}<li class="code-line${kind}" id="line-${number}"><span class="code-number">${number}</span><code dir="ltr">${lineText(text)}${cut}</code></li>${remarksOf(remarks, number)}`;
  });
  return html`<div class="code-listing" role="group" aria-label="${label}" tabindex="0"><ol class="code-lines">${rows}</ol></div>`;
}
