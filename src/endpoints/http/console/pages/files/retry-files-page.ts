/**
 * A retry of several files that were chosen in the list:
 *
 *   POST  without agreement: what would become of each, and the form · reason missing: the same again (400)
 *         agreed: each is tried that still can be · some were not: why (409) · all were: back to the list (303)
 */
import { isFileState } from "../../../../../domain/files/file-state.ts";
import type { Answer } from "../../../server/answer.ts";
import { ActRefused, type NotDone, type RetryRehearsal } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Content, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { notice, nothing } from "../../kit/notice.ts";
import { page, seeOther } from "../../kit/page.ts";
import { readReason } from "../../kit/reason.ts";
import { shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import { stateBadge } from "./files-page.ts";

/** So many can be chosen at once: the rows of a page. */
const mostChosen = 50;
const longestReference = 64;

const said = words.files.retry;

/** The references of the form, each once. */
function chosenOf(form: URLSearchParams): readonly string[] {
  const given = form.getAll("of").filter((one) => one !== "" && one.length <= longestReference);
  return [...new Set(given)].slice(0, mostChosen);
}

function outcomeText({ why, outcome, reference }: RetryRehearsal, to: Addresses): Content {
  if (outcome === undefined) return html`<p>${said.cannot} ${shown(why ?? "")}</p>`;
  const changes = outcome.changes.map(({ stopNbr, effect, fields }) =>
    said.change[effect](stopNbr, fields.length),
  );
  return [
    html`<p>${words.file.retryPage.would[outcome.state]}</p>`,
    changes.length > 0 && html`<ul>${changes.map((text) => html`<li>${text}</li>`)}</ul>`,
    outcome.faults.slice(0, 1).map(({ message }) => html`<p>${shortened(message, 200)}</p>`),
    link(to.at(`/files/${reference}/retry`), said.difference),
  ];
}

interface Sent {
  readonly reason: string;
  readonly fault?: string | undefined;
  readonly notDone?: readonly NotDone[];
}

function notDoneNotice(groups: readonly NotDone[], to: Addresses): Content {
  return groups.map(({ why, of }) =>
    notice(
      "bad",
      html`<p>${said.notDone(of.length)} ${shown(why)}</p><ul>${of.map((one) => html`<li>${link(to.file(one), one)}</li>`)}</ul>`,
    ),
  );
}

function previewPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  { rehearsals, sent }: { readonly rehearsals: readonly RetryRehearsal[]; readonly sent?: Sent },
): Answer {
  const to = addresses(services);
  const possible = rehearsals.filter(({ outcome }) => outcome !== undefined);
  const { columns } = words.files;
  const rows = rehearsals.map((rehearsal) => [
    link(to.file(rehearsal.reference), shortened(rehearsal.name, 80)),
    isFileState(rehearsal.state) ? stateBadge(rehearsal.state) : rehearsal.state,
    outcomeText(rehearsal, to),
  ]);
  const form = reasonForm({
    ...{ id: "retry", action: to.at("/files/retry"), formToken: request.user.formToken, isOpen: true },
    ...{ label: said.label(possible.length), explanation: said.explanation, error: sent?.fault },
    reason: sent?.reason ?? "",
    fields: [
      ...[hiddenField("agreed", "yes"), hiddenField("seenAt", Date.now())],
      ...possible.map(({ reference }) => hiddenField("of", reference)),
    ],
  });
  const failed = sent?.fault === undefined ? 409 : 400;
  return page(services, request, {
    ...{ title: said.title, here: "files", trail: [{ text: words.files.title, href: to.at("/files") }] },
    status: sent === undefined ? 200 : failed,
    content: [
      notDoneNotice(sent?.notDone ?? [], to),
      table([columns.name, columns.state, said.wouldBe], rows, {
        caption: said.caption,
        empty: said.nothing,
      }),
      possible.length === 0 ? nothing(link(to.at("/files"), said.back)) : form,
    ],
  });
}

/** Tries those of one company; why some of them were not. */
async function retryOf(
  services: ConsoleServices,
  { user, form }: ConsoleRequest,
  {
    companyId,
    of,
    reason,
  }: { readonly companyId: number; readonly of: readonly string[]; readonly reason: string },
): Promise<readonly NotDone[]> {
  const text = form.get("seenAt") ?? "";
  const seenAt = /^\d{1,15}$/.test(text) ? Math.min(Number(text), Date.now()) : 0;
  try {
    return (await services.act("file.retry", { user, companyId, reason }, { seenAt, of })).notDone;
  } catch (error) {
    if (error instanceof ActRefused) return [{ why: error.message, of }];
    throw error;
  }
}

async function retryFiles(services: ConsoleServices, request: ConsoleRequest): Promise<Answer> {
  const { form, user } = request;
  const rehearsals = await services.look("file.retry", user, { of: chosenOf(form) });
  if (form.get("agreed") !== "yes" || rehearsals.length === 0)
    return previewPage(services, request, { rehearsals });
  const { reason, fault } = readReason(form);
  if (fault !== undefined) return previewPage(services, request, { rehearsals, sent: { reason, fault } });
  const notDone: NotDone[] = [];
  for (const [companyId, chosen] of Map.groupBy(rehearsals, ({ company }) => company.id)) {
    const of = chosen.map(({ reference }) => reference);
    notDone.push(...(await retryOf(services, request, { companyId, of, reason })));
  }
  if (notDone.length > 0) {
    const left = await services.look("file.retry", user, { of: notDone.flatMap(({ of }) => of) });
    return previewPage(services, request, { rehearsals: left, sent: { reason, notDone } });
  }
  return seeOther(addresses(services).at("/files", { done: "filesRetried" }));
}

export const retryFilesRoute: ConsoleRoute = {
  ...{ access: "console", name: "console files retry", method: "POST", who: "act" },
  path: "/console/files/retry",
  run: retryFiles,
};
