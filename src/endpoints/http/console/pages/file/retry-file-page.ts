/** A retry of one file: what it would change comes first, then the reason, then the act. */
import type { Answer } from "../../../server/answer.ts";
import type { RetryRehearsal, ShownChange } from "../../console-acts.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { hiddenField } from "../../kit/fields.ts";
import { reasonForm } from "../../kit/forms.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { addresses, link } from "../../kit/link.ts";
import { notice, nothing, remedy } from "../../kit/notice.ts";
import { page, seeOther } from "../../kit/page.ts";
import { readReason } from "../../kit/reason.ts";
import { section } from "../../kit/section.ts";
import { code, sentence, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { remediesOf } from "../../../../../inbound/explain/file-words.ts";
import { reasonCodeOf } from "../../../../../lib/errors.ts";
import { words } from "../../words/words.ts";
import { readSeenAt, type SentForm, tryAct } from "../acts/act-page.ts";
import { notFoundPage } from "../not-found-page.ts";
import { retryAddress } from "./file-sections.ts";

const said = words.file.retryPage;

function valueText(value: unknown): Content {
  if (value === undefined) return undefined;
  return shortened(typeof value === "string" ? value : JSON.stringify(value), 200);
}

function changeContent({ stopNbr, effect, statusBefore, statusAfter, fields }: ShownChange): Html {
  const status =
    statusBefore === null || statusAfter === null || statusBefore === statusAfter
      ? undefined
      : html`<p>${said.status(statusBefore, statusAfter)}</p>`;
  const rows = fields.map(({ path, before, after }) => [code(path), valueText(before), valueText(after)]);
  const caption = words.file.formsCaption(stopNbr);
  const changed =
    effect === "updated"
      ? table([words.file.field, said.before, said.after], rows, {
          ...{ caption, empty: said.noDifference, isCaptionHidden: true },
        })
      : undefined;
  return html`<h3>${words.file.formsOf(stopNbr)} ${said.effects[effect]}</h3>${status}${changed}`;
}

function differenceContent({ why, outcome }: RetryRehearsal): Content {
  if (outcome === undefined) return notice("bad", html`<p>${said.cannot} ${sentence(why ?? "")}</p>`);
  const kind = outcome.state === "applied" ? "ok" : "bad";
  const faults = outcome.faults.map(
    ({ code: fault, message }) =>
      html`<li><strong>${words.file.faultHere(reasonCodeOf(fault))}</strong> ${shown(message)}</li>`,
  );
  return [
    notice(
      kind,
      html`<p>${said.would[outcome.state]}</p>${faults.length === 0 ? undefined : html`<ul>${faults}</ul>`}`,
    ),
    remediesOf(outcome.faults).map((text) => remedy(text)),
    outcome.changes.map(changeContent),
  ];
}

function retryForm(
  services: ConsoleServices,
  request: ConsoleRequest,
  { reference, sent }: { readonly reference: string; readonly sent: SentForm | undefined },
): Html {
  const { formToken } = request.user;
  return reasonForm({
    ...{ id: "retry", action: retryAddress(addresses(services), reference), formToken, isAlone: true },
    ...{ label: said.label, explanation: said.explanation, error: sent?.fault, reason: sent?.reason ?? "" },
    fields: hiddenField("seenAt", Date.now()),
  });
}

function retryPage(
  services: ConsoleServices,
  request: ConsoleRequest,
  { rehearsal, sent }: { readonly rehearsal: RetryRehearsal; readonly sent?: SentForm },
): Answer {
  const { reference, name, outcome } = rehearsal;
  const to = addresses(services);
  const form = outcome === undefined ? undefined : retryForm(services, request, { reference, sent });
  const refusal = sent?.refusal;
  return page(services, request, {
    ...{ title: said.title(name), here: "files", trail: [{ text: name, href: to.file(reference) }] },
    status: sent === undefined ? 200 : sent.fault === undefined ? 409 : 400,
    content: [
      refusal === undefined ? undefined : notice("bad", html`<p>${said.cannot} ${sentence(refusal)}</p>`),
      section(said.difference, differenceContent(rehearsal)),
      form ?? nothing(link(to.file(reference), said.back)),
    ],
  });
}

/** What it would change tells what stands in the file. */
function showsContent({ outcome }: RetryRehearsal): boolean {
  return outcome?.changes.some(({ effect, fields }) => effect === "updated" && fields.length > 0) ?? false;
}

/** Undefined when there is no such file; noted in the audit when it is to show something of the content. */
async function rehearsalOf(
  services: ConsoleServices,
  { user, params }: ConsoleRequest,
): Promise<RetryRehearsal | undefined> {
  const [rehearsal] = await services.look("file.retry", user, { of: [params["reference"] ?? ""] });
  if (rehearsal !== undefined && showsContent(rehearsal)) {
    const { name, reference, company } = rehearsal;
    await services.noteSeen({ user, companyId: company.id, subject: { kind: "file", name, reference } });
  }
  return rehearsal;
}

export const retryFilePage: ConsoleRoute = {
  ...{ access: "console", name: "console file retry", method: "GET", who: "act" },
  path: "/console/files/{reference}/retry",
  async run(services, request) {
    const rehearsal = await rehearsalOf(services, request);
    if (rehearsal === undefined) return notFoundPage(services, request, { text: words.notFound.file });
    return retryPage(services, request, { rehearsal });
  },
};

/** Tries it; the reason why nothing was done, if so. */
async function retry(
  services: ConsoleServices,
  { user, form }: ConsoleRequest,
  {
    rehearsal: { reference, company },
    reason,
  }: { readonly rehearsal: RetryRehearsal; readonly reason: string },
): Promise<string | undefined> {
  const by = { user, companyId: company.id, reason };
  const asked = { seenAt: readSeenAt(form), of: [reference] };
  const tried = await tryAct(() => services.act("file.retry", by, asked));
  if (tried.kind === "done") return tried.done.notDone[0]?.why;
  return tried.kind === "changed" ? tried.why : words.acts.notThere;
}

export const retryFileAct: ConsoleRoute = {
  ...{ access: "console", name: "console file retry act", method: "POST", who: "act" },
  path: "/console/files/{reference}/retry",
  async run(services, request) {
    const rehearsal = await rehearsalOf(services, request);
    if (rehearsal === undefined) return notFoundPage(services, request, { text: words.notFound.file });
    const { reason, fault } = readReason(request.form);
    if (fault !== undefined) return retryPage(services, request, { rehearsal, sent: { reason, fault } });
    const refusal = await retry(services, request, { rehearsal, reason });
    if (refusal !== undefined) return retryPage(services, request, { rehearsal, sent: { reason, refusal } });
    return seeOther(`${addresses(services).file(rehearsal.reference)}?done=fileRetried`);
  },
};
