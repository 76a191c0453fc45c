/** The folders that files are taken out of: when each was looked at, what is wrong with it, and what stays in it. */
import type { FolderFault, LeftFile, WhyLeft } from "../../../../../domain/files/folder-standing.ts";
import { secondMs } from "../../../../../lib/durations.ts";
import { countText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { remedy } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { code, shortened, shown } from "../../kit/shown-text.ts";
import { type Row, table } from "../../kit/table.ts";
import { durationText, timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import type { ShownFolder } from "./remotes-view.ts";

const said = words.folders;

/** A large folder takes some seconds; whatever takes longer waits for an answer. */
const silentMs = 10 * secondMs;

/** More are read by nobody: what keeps the first of them keeps the others as a rule. */
const mostShown = 500;

/** Operators see what the system says besides; others have its code alone. */
function faultText(text: string, { systemCode, reason }: Pick<FolderFault, "systemCode" | "reason">): Html {
  return html`<p>${text}${reason === systemCode ? "" : html` ${shown(reason)}`}</p>`;
}

/** How it stands, the worst first, with what to do. */
function stateOf({ fault, scanningSince, lookedAt, noRoom }: ShownFolder, now: number): Content {
  if (scanningSince !== undefined && now - scanningSince > silentMs)
    return [
      badge("bad", said.states.silent),
      html`<p>${said.silent} ${timeText(scanningSince)}.</p>`,
      remedy(said.silentRemedy),
    ];
  if (fault !== undefined)
    return [
      html`${badge("bad", said.states.faulty)} ${said.since} ${timeText(fault.since)}`,
      faultText(said.fault(fault.systemCode), fault),
      remedy(fault.remedy),
    ];
  if (noRoom !== undefined)
    return [badge("bad", said.states.full), html`<p>${said.full} ${shown(noRoom)}</p>`];
  return lookedAt === undefined ? badge("wait", said.states.fresh) : badge("ok", said.states.fine);
}

function whyOf(why: WhyLeft): Content {
  switch (why.kind) {
    case "failed":
      return [faultText(said.failed(why.systemCode), why), remedy(why.remedy)];
    case "incomplete":
      return [
        html`<p>${said.incomplete(why.isEmpty)} ${said.refusedAt} ${timeText(why.refusedAt)}.</p>`,
        remedy(said.incompleteRemedy),
      ];
    case "changing":
      return said.changing;
    case "behind":
      return shown(said.behind(why.before));
    case "unfinished":
      return [html`<p>${said.unfinished}</p>`, remedy(said.unfinishedRemedy)];
    case "noFile":
      return [html`<p>${said.noFile}</p>`, remedy(why.remedy)];
  }
}

function folderText({ path, company }: ShownFolder): Html {
  return html`${code(path)} <span class="company">${company}</span>`;
}

function folderRow(folder: ShownFolder, now: number): Row {
  const { path, company, lookedAt, scanMs, files, more } = folder;
  return [
    code(path),
    shortened(company, 40),
    stateOf(folder, now),
    html`${timeText(lookedAt)} <small>${said.every(durationText(scanMs))}</small>`,
    countText(files.length + more),
  ];
}

function fileRow({ name, since, why }: LeftFile, folder: ShownFolder): Row {
  return [shortened(name, 100), folderText(folder), timeText(since), whyOf(why)];
}

/** Of all folders in one list: it is asked about files, and seldom about a folder. */
function filesPart(folders: readonly ShownFolder[]): Html {
  const rows = folders.flatMap((folder) => folder.files.map((file) => fileRow(file, folder)));
  const more = folders.reduce((sum, folder) => sum + folder.more, Math.max(0, rows.length - mostShown));
  const { file, folder, since, why } = said.fileHead;
  const options = { caption: said.filesCaption, isCaptionHidden: true, empty: said.noFiles, id: "staying" };
  const list = table([file, folder, since, why], rows.slice(0, mostShown), options);
  return html`<h3>${said.files}</h3>${list}${more === 0 ? "" : html`<p>${said.more(more)}</p>`}`;
}

/** `now` in milliseconds UTC. */
export function foldersSection(folders: readonly ShownFolder[], now: number): Html {
  const { folder, company, state, lookedAt, staying } = said.head;
  const head = [folder, company, state, lookedAt, { text: staying, isNumber: true }];
  const rows = folders.map((one) => folderRow(one, now));
  const options = { caption: said.caption, isCaptionHidden: true, empty: said.none };
  const files = folders.length === 0 ? "" : filesPart(folders);
  return section(said.title, html`<p>${said.explained}</p>${table(head, rows, options)}${files}`, {
    id: "folders",
  });
}
