/**
 * Files that are tried again, chosen in the list of files or all that a filter selects.
 *
 *   chosen (POST without a reason), or all of a filter (GET) --> what would become of each, and the form --> done
 *
 * The form names each file: what was shown is done, and nothing that came later.
 */
import { reasonCodeOf } from "../../../../../lib/errors.ts";
import type { Answer } from "../../../server/answer.ts";
import { mostAtOnce, type NotDone, type RetryRehearsal, type SeveralDone } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { companiesFor } from "../../console-user.ts";
import { badge } from "../../kit/badge.ts";
import { hiddenField } from "../../kit/fields.ts";
import { type Content, html } from "../../kit/html.ts";
import { addresses, link, withQuery } from "../../kit/link.ts";
import { notice } from "../../kit/notice.ts";
import { readReason } from "../../kit/reason.ts";
import { shortened } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import { redirect } from "../../session/session-route.ts";
import { readFilter } from "../files/files-filter.ts";
import type { ListedFile } from "../files/files-view.ts";
import { stateBadge } from "../files/files-page.ts";
import { actPage, readSeenAt, type SentForm } from "./act-page.ts";
import { chosenOf, resultPage } from "./chosen.ts";
import { selectParts, selectUntil } from "./select-parts.ts";

const said = words.retryFiles;
const path = "/console/files/retry";
/** Each is read and decided about in a trial, which takes some milliseconds. */
const mostRehearsed = 50;
/** What of a filter can be tried again: all else is not even looked at. */
const retried = ["refused", "superseded"] as const;

interface Selected {
  /** References, the newest first. */
  readonly of: readonly string[];
  /** What would become of the first of them. */
  readonly rehearsals: readonly RetryRehearsal[];
  /** There may be more. */
  readonly isCut: boolean;
}

async function rehearse(
  services: ConsoleServices,
  { user }: ConsoleRequest,
  { of, isCut }: Omit<Selected, "rehearsals">,
): Promise<Selected> {
  const rehearsals = await services.look("file.retry", user, { of: of.slice(0, mostRehearsed) });
  return { of, isCut, rehearsals };
}

/** Those of the filter that can be tried again, of companies for which the user may act. */
async function selectAll(services: ConsoleServices, request: ConsoleRequest): Promise<Selected> {
  const { filter } = readFilter(request.query);
  const scope = { companies: companiesFor(request.user, "act"), isOperator: request.user.isOperator };
  const states = retried.filter((state) => filter !== undefined && (filter.state ?? state) === state);
  const until = selectUntil();
  const files: ListedFile[] = [];
  let isCut = false;
  for (const state of states) {
    const found = await selectParts(until, async (asked) => {
      const part = await services.ask("files", scope, {
        ...{ filter: { ...filter, state }, isCounted: false },
        ...asked,
      });
      return { items: part.files.filter(({ canRetry }) => canRetry), before: part.before };
    });
    files.push(...found.items);
    isCut ||= found.isCut;
  }
  const newest = files.toSorted((one, other) => other.receivedAt - one.receivedAt).slice(0, mostAtOnce);
  const of = newest.map(({ reference }) => reference);
  return await rehearse(services, request, { of, isCut: isCut || newest.length < files.length });
}

function whyOf({ why, outcome }: RetryRehearsal): Content {
  if (outcome === undefined) return shortened(why ?? "", 200);
  const faults = outcome.faults.map(
    ({ code, message }) => html`<p><strong>${reasonCodeOf(code)}</strong> ${shortened(message, 200)}</p>`,
  );
  const changes = outcome.changes.map(
    ({ stopNbr, effect, fields }) => html`<p>${said.stop(stopNbr, said.effects[effect], fields.length)}</p>`,
  );
  return [faults, changes];
}

function verdictOf({ outcome }: RetryRehearsal): Content {
  if (outcome === undefined) return badge("off", words.kit.none);
  return badge(outcome.state === "applied" ? "ok" : "bad", said.would[outcome.state]);
}

function previewOf(
  services: ConsoleServices,
  { user }: ConsoleRequest,
  { of, rehearsals, isCut }: Selected,
): Content {
  const isOfMany = companiesFor(user, "look").length > 1;
  const to = addresses(services);
  const { columns } = said;
  const rows = rehearsals.map((one) => [
    html`${link(to.file(one.reference), shortened(one.name, 80))}${isOfMany && html` <span class="company">${one.company.code}</span>`}`,
    stateBadge(one.state),
    verdictOf(one),
    whyOf(one),
  ]);
  const applied = rehearsals.filter(({ outcome }) => outcome?.state === "applied").length;
  const impossible = rehearsals.filter(({ outcome }) => outcome === undefined).length;
  const refused = rehearsals.length - applied - impossible;
  const untried = Math.max(0, of.length - mostRehearsed);
  return [
    rehearsals.length === 0 ? undefined : html`<p>${said.summary(applied, refused, impossible)}</p>`,
    isCut ? notice("wait", words.acts.mayBeMore(of.length)) : undefined,
    untried === 0 ? undefined : notice("wait", said.notTried(untried)),
    table([columns.file, columns.now, columns.would, columns.why], rows, {
      ...{ caption: said.caption, empty: said.none, id: "rehearsals" },
    }),
  ];
}

function show(
  services: ConsoleServices,
  request: ConsoleRequest,
  { selected, sent }: { readonly selected: Selected; readonly sent?: SentForm },
): Answer {
  const to = addresses(services);
  const { title, label, explanation } = said;
  const shownPage = {
    ...{ title, label, explanation, here: "files" as const, action: to.at("/files/retry") },
    back: { text: said.back, href: to.at("/files") },
    preview: previewOf(services, request, selected),
    fields: hiddenField("of", selected.of.join(",")),
    isImpossible: !selected.rehearsals.some(({ outcome }) => outcome !== undefined),
  };
  return actPage(services, request, shownPage, sent);
}

/** Each company by itself: an act is for one, and knows the files of no other. */
async function runEach(
  services: ConsoleServices,
  request: ConsoleRequest,
  { of, reason }: { readonly of: readonly string[]; readonly reason: string },
): Promise<SeveralDone> {
  const seenAt = readSeenAt(request.form);
  let left = of;
  let done = 0;
  const notDone: NotDone[] = [];
  for (const { id: companyId } of companiesFor(request.user, "act")) {
    if (left.length === 0) break;
    const by = { user: request.user, companyId, reason };
    const outcome = await services.act("file.retry", by, { of: left, seenAt });
    done += outcome.done;
    const others = outcome.notDone.filter(({ why }) => why === words.acts.notThere).flatMap((one) => one.of);
    notDone.push(...outcome.notDone.filter(({ why }) => why !== words.acts.notThere));
    left = others;
  }
  return {
    done,
    notDone: left.length === 0 ? notDone : [...notDone, { why: words.acts.notThere, of: left }],
  };
}

/** Only here are the names of files asked for: a reference says nothing to anybody. */
async function partlyDone(
  services: ConsoleServices,
  request: ConsoleRequest,
  outcome: SeveralDone,
): Promise<Answer> {
  const to = addresses(services);
  const of = outcome.notDone.flatMap((group) => group.of);
  const { rehearsals } = await rehearse(services, request, { of, isCut: false });
  const names = new Map(rehearsals.map(({ reference, name }) => [reference, name]));
  const list = { here: "files" as const, text: said.back, href: to.at("/files"), addressOf: to.file };
  return resultPage(services, request, { outcome, names, list });
}

async function run(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const chosen = chosenOf(request.form);
  const selection = { of: chosen.slice(0, mostAtOnce), isCut: chosen.length > mostAtOnce };
  const { of } = selection;
  const { reason, fault } = readReason(request.form);
  // The list of files asks what would be done: only the page of the act has a field for the reason.
  const isAct = request.form.has("reason") && of.length > 0;
  if (!isAct || fault !== undefined) {
    const selected = await rehearse(services, request, selection);
    const sent = isAct ? { reason, fault } : undefined;
    return show(services, request, sent === undefined ? { selected } : { selected, sent });
  }
  const outcome = await runEach(services, request, { of, reason });
  if (outcome.notDone.length > 0) return await partlyDone(services, request, outcome);
  return redirect(services, withQuery("/console/files", { done: "filesRetried" }));
}

const shared = { access: "console", path, who: "act" } as const;

export const retryFilesRoutes: readonly ConsoleRoute[] = [
  {
    ...shared,
    ...{ name: "consoleFiles.retry.page", method: "GET" },
    run: async (services, request) =>
      show(services, request, { selected: await selectAll(services, request) }),
  },
  { ...shared, ...{ name: "consoleFiles.retry", method: "POST" }, run },
];
