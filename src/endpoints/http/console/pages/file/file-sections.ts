/** Parts of the page of a file: its explanation, its facts, what is related to it. */
import { stopFunctionText } from "../../../../../domain/stop/stop-change.ts";
import { channelText } from "../../../../../inbound/explain/file-words.ts";
import { sizeText } from "../../kit/amounts.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { type Addresses, buttonLink, link } from "../../kit/link.ts";
import { notice, remedy, whoseMove } from "../../kit/notice.ts";
import { facts, section } from "../../kit/section.ts";
import { code, listing, sentence, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { badgeKinds, stateBadge } from "../files/files-page.ts";
import { deliveryBadge } from "../state-badges.ts";
import { lineAddress } from "./file-content-section.ts";
import type { DeliveryLink, FileFound, FileLink } from "./file-view.ts";

const said = words.file;

function reasons({ words: told, reference }: FileFound, to: Addresses): Html | undefined {
  if (told.reasons.length === 0) return undefined;
  return html`<ul class="reasons">${told.reasons.map(({ reasonCode, line, path, stopNbr, message }) => {
    const where =
      line === undefined ? undefined : html` (${link(lineAddress(to, reference, line), said.toLine)})`;
    const about = [
      path === undefined ? undefined : html` ${code(path)}`,
      stopNbr === undefined ? undefined : html` (${said.ofStop(stopNbr)})`,
    ];
    return html`<li><strong>${said.reason({ code: reasonCode, line })}</strong>${where}${about}: ${shown(message)}</li>`;
  })}</ul>`;
}

export function retryAddress(to: Addresses, reference: string): string {
  return to.at(`/files/${encodeURIComponent(reference)}/retry`);
}

function retryTools(file: FileFound, { to, mayAct }: { to: Addresses; mayAct: boolean }): Html | undefined {
  const isRetryable = file.state === "refused" || file.state === "superseded";
  if (!isRetryable || !mayAct || file.presence !== "there") return undefined;
  return buttonLink(retryAddress(to, file.reference), said.retry);
}

/** The list of refused files with the same first reason, where all of them can be tried again at once. */
function sameReason({ words: told, state, company }: FileFound, to: Addresses): Html | undefined {
  const [first] = told.reasons;
  if (first === undefined || state !== "refused") return undefined;
  const all = to.at("/files", { company, state, reason: first.reasonCode });
  return html`<p>${link(all, said.sameReason(first.reasonCode))}</p>`;
}

/** What `explain` says of it. */
export function explainedSection(
  file: FileFound,
  viewer: { readonly to: Addresses; readonly mayAct: boolean },
): Html {
  const { words: told, state } = file;
  const lines = [...told.waiting, ...told.repeats, told.place];
  const content = html`<p>${stateBadge(state)} ${sentence(told.state)}</p>${reasons(file, viewer.to)}`;
  return section(
    said.explained,
    [
      notice(badgeKinds[state], content),
      told.moves.map(whoseMove),
      told.remedies.map((text) => remedy(text)),
      told.canPassLater ? html`<p>${said.canPassLater}</p>` : undefined,
      sameReason(file, viewer.to),
      lines.map((line) => html`<p>${sentence(line)}</p>`),
    ],
    { id: "explained", tools: retryTools(file, viewer) },
  );
}

export function aboutSection(file: FileFound, to: Addresses): Html {
  const { company, stopNbr, first, user } = file;
  const text = (value: string | null) => (value === null ? undefined : shown(value));
  return section(
    said.about,
    facts([
      [said.facts.company, company],
      [said.facts.stop, stopNbr === null ? undefined : link(to.stop(company, stopNbr), shown(stopNbr))],
      [said.facts.stopFunction, text(file.stopFunction && stopFunctionText(file.stopFunction))],
      [said.facts.documentId, text(file.documentId)],
      [
        said.facts.channel,
        link(to.at("/files", { company, channel: file.channel }), channelText(file.channel)),
      ],
      [said.facts.user, user === null ? undefined : link(to.at("/files", { company, user }), shown(user))],
      [said.facts.size, sizeText(file.size)],
      [said.facts.sha256, file.sha256 === null ? undefined : code(file.sha256)],
      [said.facts.reference, code(file.reference)],
      [
        said.facts.repeats,
        first === undefined ? undefined : link(to.file(first.reference), shortened(first.name)),
      ],
    ]),
  );
}

export function receiptSection({ receipt, isReceiptReplaced }: FileFound): Html {
  const content: Content =
    receipt === undefined
      ? html`<p>${said.noReceipt}</p>`
      : [
          isReceiptReplaced ? html`<p>${said.receiptReplaced}</p>` : undefined,
          listing(receipt, said.receipt),
        ];
  return section(said.receipt, content, { id: "receipt" });
}

type OtherFile = FileLink & { readonly isNewer?: boolean };

function fileRow(
  { reference, name, state, receivedAt, isNewer }: OtherFile,
  to: Addresses,
): readonly Content[] {
  const order = isNewer === undefined ? [] : [isNewer ? said.isNewer : said.isOlder];
  return [link(to.file(reference), shortened(name)), stateBadge(state), timeText(receivedAt), ...order];
}

export function namesakesSection({ namesakes }: FileFound, to: Addresses): Html {
  const rows = namesakes.map((file) => fileRow(file, to));
  const options = { caption: said.namesakes, empty: said.noNamesakes, isCaptionHidden: true };
  return section(said.namesakes, table([said.name, said.state, said.received], rows, options));
}

export function sameStopSection({ ofStop, stopNbr }: FileFound, to: Addresses): Html | undefined {
  if (stopNbr === null) return undefined;
  const rows = ofStop.map((file) => fileRow(file, to));
  const options = { caption: said.ofSameStop, empty: said.noOfSameStop, isCaptionHidden: true };
  return section(said.ofSameStop, table([said.name, said.state, said.received, said.order], rows, options));
}

/** Deliveries as a table, with where each stands. */
export function deliveryTable(
  deliveries: readonly DeliveryLink[],
  { to, caption, empty }: { readonly to: Addresses; readonly caption: string; readonly empty: string },
): Html {
  const { name, kind, target, state, made, delivered, fetched, fault } = said.delivery;
  const rows = deliveries.map((one) => [
    link(to.delivery(one.guid), shortened(one.name)),
    said.kinds[one.kind],
    shortened(one.target),
    deliveryBadge(one.state),
    timeText(one.createdAt),
    timeText(one.deliveredAt),
    timeText(one.collectedAt),
    one.faultText === null ? undefined : shortened(one.faultText, 300),
  ]);
  const options = { caption, empty, isCaptionHidden: true };
  return table([name, kind, target, state, made, delivered, fetched, fault], rows, options);
}

export function deliveriesSection({ deliveries, state }: FileFound, to: Addresses): Html {
  const empty = state === "applied" ? said.noDeliveries : said.notApplied;
  return section(said.deliveries, deliveryTable(deliveries, { to, caption: said.deliveries, empty }), {
    id: "deliveries",
  });
}

export function formerSection({ repeats }: FileFound): Html | undefined {
  if (repeats.length === 0) return undefined;
  const rows = repeats.map(({ state, decidedAt, askedAt, reasons: former }) => [
    stateBadge(state),
    timeText(decidedAt),
    timeText(askedAt),
    former.map(({ reasonCode, message }) => html`<p>${said.faultHere(reasonCode)} ${shown(message)}</p>`),
  ]);
  const head = [said.state, said.steps.decided, said.steps.askedAgain, said.why];
  return section(
    said.formerDecisions,
    table(head, rows, { caption: said.formerCaption, empty: "", isCaptionHidden: true }),
  );
}
