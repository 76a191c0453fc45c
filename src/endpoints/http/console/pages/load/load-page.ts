/** Page 6: one load: its day, its route, its driver, and the imports that made it. */
import { given } from "../../../../../lib/given.ts";
import type { Answer } from "../../../server/answer.ts";
import type { ConsoleRequest, ConsoleRoute } from "../../console-route.ts";
import type { ConsoleServices } from "../../console-services.ts";
import { scopeFor } from "../../console-user.ts";
import { badge } from "../../kit/badge.ts";
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, addresses, link, withQuery } from "../../kit/link.ts";
import { page } from "../../kit/page.ts";
import { pager } from "../../kit/pager.ts";
import { facts, section } from "../../kit/section.ts";
import { code, shortened, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { notFoundPage } from "../not-found-page.ts";
import { loadBadge } from "../state-badges.ts";
import { concernList } from "../stop/concern-list.ts";
import { stopTime } from "../stop/visit-table.ts";
import { loadConcerns } from "./load-concerns.ts";
import { daySection } from "./load-day.ts";
import { routeSection } from "./load-route.ts";
import type { LoadFound, LoadImportView } from "./load-view.ts";

const said = words.load;

function driverText({ driver: { name, userName, cdl } }: LoadFound): string {
  const known = [name, userName, cdl].filter((part) => part !== undefined && part !== "");
  return known.length === 0 ? said.facts.noDriver : known.join(", ");
}

function startWindow({ earliestStart, latestStart, zone }: LoadFound): Html | undefined {
  if (earliestStart === undefined && latestStart === undefined) return undefined;
  return html`${stopTime(earliestStart, zone)} ${words.stop.to} ${stopTime(latestStart, zone)}`;
}

function aboutSection(load: LoadFound, now: number): Html {
  const { company, carrierCode, vehicle, origin, stops, zone, last } = load;
  const time = (at: number | undefined) => (at === undefined ? undefined : stopTime(at, zone));
  const rows = [
    [said.facts.company, company],
    [said.facts.carrier, carrierCode === null ? undefined : shown(carrierCode)],
    [said.facts.driver, shown(driverText(load))],
    [said.facts.vehicle, vehicle === undefined ? undefined : shown(vehicle)],
    [said.facts.origin, origin === undefined ? undefined : shown(origin.name)],
    [said.facts.stops, said.done(load.finalStops, stops.length + load.moreStops)],
    [said.facts.startWindow, startWindow(load)],
    [said.facts.actualStart, time(load.actualStart)],
    [said.facts.actualEnd, time(load.actualEnd)],
    [said.facts.last, time(last?.at)],
    [said.facts.eta, time(load.etaAt)],
    [said.facts.created, timeText(load.createdAt)],
  ] as const;
  const concerns = concernList(loadConcerns(load, now), said.told.fine);
  return section(said.about, [html`<p>${loadBadge(load.status)}</p>`, concerns, facts(rows)], {
    id: "state",
  });
}

function eventsSection({ events, company }: LoadFound, to: Addresses): Html {
  const { event, happened, recorded } = words.stop;
  const rows = events
    .toReversed()
    .map(({ code: eventCode, name, stopNbr, happenedAt, recordedAt }) => [
      `${eventCode} ${name}`,
      stopNbr === null ? undefined : link(to.stop(company, stopNbr), shown(stopNbr)),
      timeText(happenedAt),
      timeText(recordedAt),
    ]);
  const options = { caption: said.events, empty: said.noEvents, isCaptionHidden: true };
  return section(said.events, table([event, said.stop, happened, recorded], rows, options), { id: "events" });
}

const importKinds = { waiting: "wait", applied: "ok", refused: "bad" } as const;

function importReasons({ reasons }: LoadImportView): readonly Html[] {
  return reasons.map(({ reasonCode, path, message }) => {
    const at = path === undefined ? undefined : code(path);
    return html`<p>${words.file.faultHere(reasonCode)} ${at} ${shown(message)}</p>`;
  });
}

function importsSection(load: LoadFound, request: ConsoleRequest, to: Addresses): Html {
  const { shown: imports, before } = load.imports;
  const rows = imports.map((one) => [
    code(one.guid),
    badge(importKinds[one.state], said.states[one.state]),
    timeText(one.receivedAt),
    timeText(one.decidedAt),
    shortened(one.user, 60),
    importReasons(one),
  ]);
  const head = [said.import, said.state, said.came, said.decided, said.user, said.why];
  const options = { caption: said.imports, empty: said.noImports, isCaptionHidden: true };
  const pageOf = (place?: string) =>
    `${withQuery(to.load(load.company, load.loadNbr), { imports: place })}#imports`;
  const pages = pager({
    first: request.query.has("imports") ? pageOf() : undefined,
    next: before === undefined ? undefined : pageOf(before),
  });
  return section(said.imports, [table(head, rows, options), pages], { id: "imports" });
}

function shownLoad(services: ConsoleServices, request: ConsoleRequest, load: LoadFound): Answer {
  const to = addresses(services);
  const now = Date.now();
  return page(services, request, {
    ...{ title: said.title(load.loadNbr), here: "find", trail: [] },
    content: [
      aboutSection(load, now),
      daySection(load, { now, to }),
      routeSection(load, { now, to }),
      importsSection(load, request, to),
      eventsSection(load, to),
    ],
  });
}

export const loadPage: ConsoleRoute = {
  ...{ access: "console", name: "console load", method: "GET", who: "look" },
  path: "/console/loads/{companyCode}/{loadNbr}",
  async run(services, request) {
    const { companyCode = "", loadNbr = "" } = request.params;
    const importsBefore = request.query.get("imports") ?? undefined;
    const asked = { companyCode, loadNbr, ...given({ importsBefore }) };
    const load = await services.ask("load", scopeFor(request.user), asked);
    if (load === undefined)
      return notFoundPage(services, request, { text: words.notFound.load, find: loadNbr });
    return shownLoad(services, request, load);
  },
};
