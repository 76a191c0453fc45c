/** Page 3, files: the entries of the ledger by a filter that stands in the address, each with its reason and what to do. */
import { errorCatalogue } from "../../../../../lib/errors.ts";
import { given } from "../../../../../lib/given.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import { channelText } from "../../../../../inbound/explain/file-words.ts";
import type { FileState } from "../../../../../domain/files/file-state.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor, type ConsoleUser, scopeFor } from "../../console-user.ts";
import { countText, sizeText } from "../../kit/amounts.ts";
import { badge, type BadgeKind } from "../../kit/badge.ts";
import { hiddenField, selectField, submitButton, textField } from "../../kit/fields.ts";
import { mostCsvRows } from "../../kit/csv.ts";
import { filterForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { notice, remedy } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { prose, shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { filterQuery, readFilter, type ReadFilter } from "./files-filter.ts";
import { askedStates, type FilesFound, type ListedFile } from "./files-view.ts";

const rowsOfPage = 50;

/** How a state of a file stands. */
export const badgeKinds: Readonly<Record<FileState, BadgeKind>> = {
  waiting: "wait",
  retry: "wait",
  applied: "ok",
  refused: "bad",
  superseded: "off",
  duplicate: "off",
};

/** The state of a file as a badge. */
export function stateBadge(state: FileState): Html {
  return badge(badgeKinds[state], words.files.states[state]);
}

/** A way as the filter names it; `remote` stands for all of them. */
function wayText(channel: string): string {
  return channel === "remote" ? words.files.anyRemote : channelText(channel);
}

interface Shown {
  readonly user: ConsoleUser;
  readonly to: Addresses;
  readonly read: ReadFilter;
  readonly found: FilesFound | undefined;
}

const reasonOptions = [
  ...new Map(
    Object.values(errorCatalogue).map(({ reasonCode, meaning }) => [reasonCode, meaning] as const),
  ).entries(),
].map(([code, meaning]) => [String(code), `${code} ${meaning}`.slice(0, 80)] as const);

function filterFields({ user, read: { texts, faults }, found }: Shown): Content {
  const all = ["", words.files.all] as const;
  const companies = companiesFor(user, "look").map(({ code }) => [code, code] as const);
  const channels = [...new Set([...(found?.channels ?? []), texts.channel])].filter((one) => one !== "");
  const { company, state, reason, channel, user: userName, name, from, to } = texts;
  const f = words.files;
  return [
    companies.length > 1 &&
      selectField({ name: "company", label: f.company, value: company, options: [all, ...companies] }),
    selectField({
      ...{ name: "state", label: f.state, value: state, error: faults.state },
      options: [all, ...askedStates.map((one) => [one, f.askedStates[one]] as const)],
    }),
    selectField({
      ...{ name: "reason", label: f.reason, value: reason, error: faults.reason },
      options: [all, ...reasonOptions],
    }),
    selectField({
      ...{ name: "channel", label: f.channel, value: channel },
      options: [all, ...channels.map((one) => [one, wayText(one)] as const)],
    }),
    textField({ name: "user", label: f.user, value: userName, maxLength: 300, autocomplete: "off" }),
    textField({ name: "name", label: f.name, value: name, hint: f.nameHint, maxLength: 300 }),
    textField({ name: "from", label: f.from, value: from, type: "date", error: faults.from }),
    textField({ name: "to", label: f.to, value: to, type: "date", error: faults.to }),
  ];
}

/** Why a file is in its state, and what to do. */
export function whyOf({ reason, remedy: todo, pruned, state }: ListedFile): Content {
  const next = todo ?? words.files.nextSteps[state];
  return [
    reason &&
      html`<p><strong>${reason.code}</strong> ${shortened(reason.message, 200)}${
        reason.more > 0 && html` (${words.files.more(reason.more)})`
      }</p>`,
    pruned !== null && html`<p>${pruned}</p>`,
    next !== undefined && remedy(next),
  ];
}

function senderOf({ channel, user }: ListedFile, { to, read }: Shown): Content {
  const query = filterQuery(read.texts);
  const way = link(to.at("/files", { ...query, channel }), channelText(channel));
  if (user === null) return way;
  return [way, " ", link(to.at("/files", { ...query, user }), shortened(user, 40))];
}

function nameOf({ reference, name, stopNbr, company }: ListedFile, { to, user }: Shown): Content {
  const isOfMany = companiesFor(user, "look").length > 1;
  return html`${link(to.file(reference), shortened(name, 80))}${
    stopNbr !== null && html` ${link(to.stop(company, stopNbr), shortened(words.files.stop(stopNbr), 40))}`
  }${isOfMany && html` <span class="company">${company}</span>`}`;
}

function choiceOf({ canRetry, reference, name, company }: ListedFile, user: ConsoleUser): Content {
  const mayAct = companiesFor(user, "act").some(({ code }) => code === company);
  if (!canRetry || !mayAct) return "";
  return html`<input type="checkbox" name="of" value="${reference}" aria-label="${words.files.chooseFile(name)}">`;
}

function rowsOf(files: readonly ListedFile[], shown: Shown, hasChoice: boolean): readonly Content[][] {
  return files.map((file) => [
    nameOf(file, shown),
    stateBadge(file.state),
    timeText(file.receivedAt),
    senderOf(file, shown),
    whyOf(file),
    sizeText(file.size),
    ...(hasChoice ? [choiceOf(file, shown.user)] : []),
  ]);
}

function list(shown: Shown, { files, searchedTo, searchedUpTo }: FilesFound): Html {
  const { columns, caption, emptyPart, emptyUpTo, retryChosen, retryAll, retryHint } = words.files;
  const { user, to } = shown;
  const mayAct = companiesFor(user, "act").length > 0;
  const hasChoice = mayAct && files.some(({ canRetry }) => canRetry);
  const head = [
    ...[columns.name, columns.state, columns.receivedAt, columns.from, columns.why],
    { text: columns.size, isNumber: true },
    ...(hasChoice ? [columns.choice] : []),
  ];
  const nothing =
    searchedUpTo !== undefined
      ? prose(emptyUpTo(isoTime(searchedUpTo)))
      : searchedTo === null
        ? words.files.empty
        : prose(emptyPart(isoTime(searchedTo)));
  const rows = table(head, rowsOf(files, shown, hasChoice), { caption, empty: nothing, id: "files" });
  if (!hasChoice) return rows;
  const ofFilter = to.at("/files/retry", filterQuery(shown.read.texts));
  return html`<form method="post" action="${to.at("/files/retry")}">${hiddenField("formToken", user.formToken)}${rows}<div class="buttons">${submitButton(retryChosen)} ${link(ofFilter, retryAll)} <span class="hint">${retryHint}</span></div></form>`;
}

function countOf({ count }: FilesFound): Content {
  return count === null ? "" : words.files.count[count.kind](countText(count.count));
}

function content(shown: Shown, request: ConsoleRequest): Content {
  const { to, read, found } = shown;
  const query = filterQuery(read.texts);
  const isFiltered = Object.values(query).some((text) => text !== "");
  const form = filterForm({ action: to.at("/files"), fields: filterFields(shown), isFiltered });
  if (found === undefined) return form;
  const { before, after, searchedTo, searchedUpTo } = found;
  const place = { before: request.query.get("before") ?? undefined };
  const isFirst = after === null && request.query.get("before") === null;
  const further = searchedTo === null ? undefined : "yes";
  const furtherUp = searchedUpTo === undefined ? undefined : "yes";
  return [
    form,
    html`<p class="summary">${countOf(found)} ${link(to.at("/files.csv", { ...query, ...place }), words.files.csv)} <span class="hint">${words.files.csvHint(countText(mostCsvRows))}</span></p>`,
    list(shown, found),
    searchedTo !== null && notice("wait", prose(words.files.searchedTo(isoTime(searchedTo)))),
    searchedUpTo !== undefined && notice("wait", prose(words.files.searchedUpTo(isoTime(searchedUpTo)))),
    pager({
      first: isFirst ? undefined : to.at("/files", query),
      previous: after === null ? undefined : to.at("/files", { ...query, after, further: furtherUp }),
      next: before === null ? undefined : to.at("/files", { ...query, before, further }),
      isSearch: searchedTo !== null,
    }),
  ];
}

async function showFiles(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { user, query } = request;
  const read = readFilter(query);
  const { filter } = read;
  const place = { before: query.get("before") ?? undefined, after: query.get("after") ?? undefined };
  const found =
    filter === undefined
      ? undefined
      : await services.ask("files", scopeFor(user), {
          ...{ filter, limit: rowsOfPage, isCounted: true, isFurther: query.has("further") },
          ...given(place),
        });
  const shown = { user, to: addresses(services), read, found };
  return page(services, request, {
    ...{ title: words.files.title, here: "files", content: content(shown, request) },
    status: filter === undefined ? 400 : 200,
  });
}

export const filesPage: ConsoleRoute = {
  access: "console",
  name: "console files",
  method: "GET",
  path: "/console/files",
  who: "look",
  run: showFiles,
};
