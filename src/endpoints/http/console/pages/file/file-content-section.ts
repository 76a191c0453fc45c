/** The content of a file with its faults at their place, and its stops in their three forms. */
import { countText } from "../../kit/amounts.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { notice, nothing } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { code, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import { codeListing, type LineRemark } from "./code-listing.ts";
import {
  type FieldForms,
  type FileContent,
  type FileContentFound,
  type FileForms,
  type FileFound,
  linesOfPage,
  type StopForms,
} from "./file-view.ts";

const said = words.file;

type ShownContent = Extract<FileContent, { kind: "shown" }>;

/** The address of the page that begins at a line. */
export function lineAddress(to: Addresses, reference: string, line: number): string {
  const from = Math.max(1, line - 10);
  return `${to.at(`/files/${encodeURIComponent(reference)}`, { line: from })}#line-${line}`;
}

function remarksOf({ words: told }: FileFound): readonly LineRemark[] {
  return told.reasons.flatMap(({ line, reasonCode, message }) =>
    line === undefined
      ? []
      : [{ line, content: html`<strong>${said.faultHere(reasonCode)}</strong> <bdi>${message}</bdi>` }],
  );
}

/**
 * Where the next page begins: behind the page, or, where its lines were too long for it, at the last that is shown in a row,
 * which may be cut.
 */
export function nextLineOf({ lines, isBudgetSpent }: Pick<ShownContent, "lines" | "isBudgetSpent">): number {
  const first = lines[0]?.number ?? 1;
  const next = first + linesOfPage;
  if (!isBudgetSpent) return next;
  const gap = lines.findIndex(({ number }, index) => number !== first + index);
  const last = first + (gap === -1 ? lines.length : gap) - 1;
  return Math.min(next, Math.max(last, first + 1));
}

/** Links to the pages of the lines: the first, and the one after what is shown in a row. */
function linePages(to: Addresses, reference: string, content: ShownContent): Html | undefined {
  const { lines, lastLine } = content;
  const first = lines[0]?.number ?? 1;
  const next = nextLineOf(content);
  const path = `/files/${encodeURIComponent(reference)}`;
  const links: Html[] = [];
  if (first > 1) links.push(html`<li>${link(`${to.at(path)}#content`, said.fromStart)}</li>`);
  if (next <= lastLine)
    links.push(
      html`<li>${link(`${to.at(path, { line: next })}#content`, said.linesFrom(countText(next)))}</li>`,
    );
  if (links.length === 0) return undefined;
  return html`<nav class="pager" aria-label="${said.pages}"><ul>${links}</ul></nav>`;
}

function aboutContent(content: ShownContent): Content {
  const { encoding, lastLine, isWholeSearched, isBudgetSpent, isChanged } = content;
  return [
    isChanged ? notice("bad", said.changed) : undefined,
    html`<p>${said.encoding(encoding)} ${said.lines({ last: countText(lastLine), isWhole: isWholeSearched })} ${
      isBudgetSpent ? said.budgetSpent : undefined
    } ${said.seen}</p>`,
  ];
}

export function contentSection(file: FileFound, { content }: FileContentFound, to: Addresses): Html {
  if (content.kind === "absent")
    return section(said.content, nothing(said.presence[content.presence]), { id: "content" });
  const listing = codeListing(content.lines, remarksOf(file), said.contentOf(file.name));
  return section(said.content, [aboutContent(content), listing, linePages(to, file.reference, content)], {
    id: "content",
  });
}

function fieldRow({ path, former, sent, stored }: FieldForms, hasFormer: boolean): readonly Content[] {
  const value = (text: string | undefined) => (text === undefined ? undefined : shortened(text, 200));
  const isChanged = hasFormer && former !== sent;
  const isOther = stored !== sent;
  return [
    code(path),
    value(former),
    isChanged ? html`<mark>${value(sent)}</mark>` : value(sent),
    isOther ? html`<mark>${value(stored)}</mark>` : value(stored),
  ];
}

function aboutFormer({ former }: StopForms, to: Addresses): Html {
  if (former === undefined) return html`<p>${said.noFormer}</p>`;
  const name = link(to.file(former.reference), shortened(former.name));
  return html`<p>${said.formerFile} ${name} ${former.isRead ? undefined : said.formerNotRead}</p>`;
}

function stopForms(stop: StopForms, { company, to }: { company: string; to: Addresses }): Html {
  const { stopNbr, stopFunction, isStored, fields, moreFields } = stop;
  const heading = html`<h3>${link(to.stop(company, stopNbr), said.formsOf(stopNbr))}</h3>`;
  if (stopFunction === "02") return html`${heading}<p>${said.deletion}</p>`;
  if (!isStored && fields.length === 0)
    return html`${heading}${aboutFormer(stop, to)}<p>${said.notStored}</p>`;
  const shownFields = table(
    [said.field, said.former, said.sent, said.stored],
    fields.map((field) => fieldRow(field, stop.former?.isRead === true)),
    {
      caption: said.formsCaption(stopNbr),
      empty: said.equal,
      isCaptionHidden: true,
    },
  );
  return html`${heading}${aboutFormer(stop, to)}${isStored ? undefined : html`<p>${said.notStored}</p>`}${shownFields}${
    moreFields === 0 ? undefined : html`<p>${said.moreFields(moreFields)}</p>`
  }`;
}

function formsContent(forms: FileForms, about: { company: string; to: Addresses }): Content {
  if (forms.kind === "none") return nothing(said.noForms[forms.why]);
  return [
    html`<p>${said.formsHint}</p>`,
    forms.stops.map((stop) => stopForms(stop, about)),
    forms.moreStops === 0 ? undefined : html`<p>${said.moreStops(forms.moreStops)}</p>`,
  ];
}

/** What was sent, what is stored, and what that has changed. */
export function formsSection(file: FileFound, { forms }: FileContentFound, to: Addresses): Html {
  return section(said.forms, formsContent(forms, { company: file.company, to }), { id: "forms" });
}
