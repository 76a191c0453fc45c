/** The day of a load as a picture and as a table. */
import { type Html, html } from "../../kit/html.ts";
import { type Addresses, link } from "../../kit/link.ts";
import { nothing } from "../../kit/notice.ts";
import { section } from "../../kit/section.ts";
import { shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { badge } from "../../kit/badge.ts";
import { type DayVisit, loadDayPicture } from "../../pictures/load-day-picture.ts";
import { knownZone } from "../../pictures/time-axis.ts";
import { words } from "../../words/words.ts";
import { stopBadge } from "../state-badges.ts";
import { isFinalStop, isLateVisit } from "../stop/stop-concerns.ts";
import { visitCells, visitHead } from "../stop/visit-table.ts";
import type { LoadFound, LoadStopView, LoadVisitView } from "./load-view.ts";

const said = words.load;

export interface PlacedVisit {
  readonly stop: LoadStopView;
  /** From 1, in the order of the stops. */
  readonly number: number;
  readonly visit: LoadVisitView;
}

export function visitsOfLoad({ stops }: Pick<LoadFound, "stops">): readonly PlacedVisit[] {
  return stops.flatMap((stop, index) => stop.visits.map((visit) => ({ stop, number: index + 1, visit })));
}

/** Cancelled and completed stops are late only when the visit was. */
export function isLateOnLoad({ stop, visit }: PlacedVisit, now: number): boolean {
  return isFinalStop(stop) && visit.arrivedAt === undefined ? false : isLateVisit(visit, now);
}

export function visitLabel({ stop, number, visit }: PlacedVisit): string {
  return said.visitLabel(number, stop.stopNbr, words.stop.visits[visit.party]);
}

function dayVisit(placed: PlacedVisit, now: number): DayVisit {
  const { timeFrom, timeTo, expectedAt, arrivedAt, departedAt } = placed.visit;
  const from = timeFrom ?? timeTo;
  return {
    label: visitLabel(placed),
    isLate: isLateOnLoad(placed, now),
    ...(from === undefined ? {} : { planned: { from, ...(timeTo === undefined ? {} : { to: timeTo }) } }),
    ...(expectedAt === undefined ? {} : { expectedAt }),
    ...(arrivedAt === undefined ? {} : { arrivedAt }),
    ...(departedAt === undefined ? {} : { departedAt }),
  };
}

function legend(): Html {
  const sign = (kind: string) =>
    html`<svg width="18" height="12" aria-hidden="true"><rect class="picture-bar picture-${kind}" x="1" y="1" width="16" height="10" rx="2"/></svg>`;
  const { planned, done, open, bad } = said.legend;
  const signs = [
    ["planned", planned],
    ["done", done],
    ["open", open],
    ["bad", bad],
  ] as const;
  return html`<p class="picture-legend">${signs.map(([kind, text]) => html`<span>${sign(kind)} ${text}</span>`)}</p>`;
}

function dayTable(visits: readonly PlacedVisit[], { company, now, to }: DayOptions): Html {
  const rows = visits.map((placed) => {
    const { stop, number, visit } = placed;
    const late = isLateOnLoad(placed, now) ? badge("bad", said.late) : undefined;
    const name = html`<span class="short">${number}. ${link(to.stop(company, stop.stopNbr), shown(stop.stopNbr))}</span>`;
    return [
      name,
      words.stop.visits[visit.party],
      html`${stopBadge(stop.status)} ${late}`,
      ...visitCells(visit),
    ];
  });
  const options = { caption: said.dayCaption, empty: said.noStops, isCaptionHidden: true };
  return table([said.stop, words.stop.visit, said.state, ...visitHead], rows, options);
}

interface DayOptions {
  readonly company: string;
  readonly now: number;
  readonly to: Addresses;
}

export function daySection(load: LoadFound, { now, to }: Omit<DayOptions, "company">): Html {
  const visits = visitsOfLoad(load);
  const zone = knownZone(load.zone);
  const { planned, expected, actual, now: nowLabel } = said.marks;
  const picture = loadDayPicture(
    { id: "load-day", title: said.day, description: said.dayDescription(visits.length, zone) },
    visits.map((visit) => dayVisit(visit, now)),
    { zone, now, nowLabel, words: { planned, expected, actual } },
  );
  const more = load.moreStops === 0 ? undefined : html`<p>${said.moreStops(load.moreStops)}</p>`;
  return section(
    said.day,
    [
      picture === undefined
        ? nothing(said.noTimes)
        : [picture, legend(), html`<p class="nothing">${said.dayZone(zone)}</p>`],
      dayTable(visits, { company: load.company, now, to }),
      more,
    ],
    { id: "day" },
  );
}
