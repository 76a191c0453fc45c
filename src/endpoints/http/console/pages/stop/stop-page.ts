/** Page 5: one stop: how it stands, its times, and everything that came and went about it. */
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { scopeFor } from "../../console-user.ts";
import { sizeText } from "../../kit/amounts.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link } from "../../kit/link.ts";
import { remedy } from "../../kit/notice.ts";
import { page } from "../../kit/page.ts";
import { facts, section } from "../../kit/section.ts";
import { shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { stateBadge } from "../files/files-page.ts";
import { deliveryTable } from "../file/file-sections.ts";
import { notFoundPage } from "../not-found-page.ts";
import { stopBadge } from "../state-badges.ts";
import { concernList } from "./concern-list.ts";
import { axisSection } from "./stop-axis.ts";
import { concernsOf } from "./stop-concerns.ts";
import type { StopFileView, StopFound } from "./stop-view.ts";
import { stopTime, visitCells, visitHead } from "./visit-table.ts";

const said = words.stop;

function appointmentText({ appointment }: StopFound): Html | undefined {
  if (appointment === undefined) return undefined;
  const { region, begin, end, zone } = appointment;
  const until = end === undefined ? undefined : html` ${said.to} ${stopTime(end, zone)}`;
  return html`${stopTime(begin, zone)}${until}, ${shown(region)}`;
}

function stateSection(stop: StopFound, { now, to }: { readonly now: number; readonly to: Addresses }): Html {
  const { company, load, carrierCode, references } = stop;
  const onLoad =
    load === undefined ? said.facts.noLoad : link(to.load(company, load.loadNbr), shown(load.loadNbr));
  const driver = load?.driver ?? undefined;
  return section(
    said.soWhat,
    [
      html`<p>${stopBadge(stop.status)}</p>`,
      concernList(concernsOf(stop, { now, to }), said.told.fine),
      stop.exceptions.map(
        ({ exceptionCode = "", exceptionDesc = "" }) =>
          html`<p>${shown(said.exception(exceptionCode, exceptionDesc))}</p>`,
      ),
      facts([
        [said.facts.company, company],
        [said.facts.received, stop.isReceived ? said.yes : said.no],
        [said.facts.carrier, carrierCode === null ? undefined : shown(carrierCode)],
        [said.facts.load, onLoad],
        [said.facts.driver, driver === undefined ? undefined : shown(driver)],
        [said.facts.appointment, appointmentText(stop)],
        ...references.map(([name, value]) => [said.references[name] ?? name, shown(value)] as const),
        [said.facts.created, timeText(stop.createdAt)],
        [said.facts.changed, timeText(stop.updatedAt)],
      ]),
    ],
    { id: "state" },
  );
}

function timesSection({ visits }: StopFound): Html {
  const rows = visits.map((visit) => [said.visits[visit.party], ...visitCells(visit)]);
  const options = { caption: said.timesCaption, empty: said.noTimes, isCaptionHidden: true };
  return section(said.times, table([said.visit, ...visitHead], rows, options), { id: "times" });
}

function eventsSection({ events }: StopFound): Html {
  const rows = events
    .toReversed()
    .map(({ code, name, happenedAt, recordedAt }) => [
      `${code} ${name}`,
      timeText(happenedAt),
      timeText(recordedAt),
    ]);
  const options = { caption: said.events, empty: said.noEvents, isCaptionHidden: true };
  return section(said.events, table([said.event, said.happened, said.recorded], rows, options), {
    id: "events",
  });
}

function reasonsOf({ reasons, remedies }: StopFileView): readonly Html[] {
  return [
    ...reasons
      .slice(0, 5)
      .map(({ reasonCode, message }) => html`<p>${words.file.faultHere(reasonCode)} ${shown(message)}</p>`),
    ...remedies.map((text) => remedy(text)),
  ];
}

function filesSection({ files }: StopFound, to: Addresses): Html {
  const rows = files.map((file) => [
    link(to.file(file.reference), shortened(file.name)),
    stateBadge(file.state),
    timeText(file.receivedAt),
    reasonsOf(file),
  ]);
  const { name, state, received } = words.file;
  const options = { caption: said.files, empty: said.noFiles, isCaptionHidden: true };
  return section(said.files, table([name, state, received, said.why], rows, options), { id: "files" });
}

function deliveriesSection({ deliveries }: StopFound, to: Addresses): Html {
  const content = deliveryTable(deliveries, { to, caption: said.deliveries, empty: said.noDeliveries });
  return section(said.deliveries, content, { id: "deliveries" });
}

function documentsSection({ documents }: StopFound): Html {
  const rows = documents.map(({ name, type, size }) => [
    name === null ? said.unnamed : shortened(name),
    type === null ? undefined : shortened(type, 40),
    sizeText(size),
  ]);
  const options = { caption: said.documents, empty: said.noDocuments, isCaptionHidden: true };
  const head = [said.document, said.documentType, { text: said.size, isNumber: true }];
  return section(said.documents, table(head, rows, options), { id: "documents" });
}

function shownStop(services: ConsoleServices, request: ConsoleRequest, stop: StopFound): Answer {
  const to = addresses(services);
  const now = Date.now();
  return page(services, request, {
    ...{ title: said.title(stop.stopNbr), here: "find", trail: [] },
    content: [
      stateSection(stop, { now, to }),
      timesSection(stop),
      axisSection(stop),
      filesSection(stop, to),
      deliveriesSection(stop, to),
      eventsSection(stop),
      documentsSection(stop),
    ],
  });
}

export const stopPage: ConsoleRoute = {
  ...{ access: "console", name: "console stop", method: "GET", who: "look" },
  path: "/console/stops/{companyCode}/{stopNbr}",
  async run(services, request) {
    const { companyCode = "", stopNbr = "" } = request.params;
    const stop = await services.ask("stop", scopeFor(request.user), { companyCode, stopNbr });
    if (stop === undefined)
      return notFoundPage(services, request, { text: words.notFound.stop, find: stopNbr });
    return shownStop(services, request, stop);
  },
};
