/** How the state grows, and when its disks are full: the forecast of the last check, drawn and as a table. */
import { dayMs } from "../../../../../lib/durations.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import { sizeText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { chart } from "../../kit/chart.ts";
import { type Html, html } from "../../kit/html.ts";
import { nothing, remedy } from "../../kit/notice.ts";
import { details, facts, section } from "../../kit/section.ts";
import { shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { words } from "../../words/words.ts";
import { findingItem } from "./health-sections.ts";
import type { HealthFacts, ShownFinding, ShownForecast } from "./health-view.ts";

const said = words.health.growth;

function dayText(from: number, days: number): string {
  return isoTime(from + days * dayMs).slice(0, 10);
}

function fullText({ fullInDays }: ShownForecast, from: number): string {
  return fullInDays === undefined ? said.lasts : said.fullOn(dayText(from, fullInDays), fullInDays);
}

/** What is used more by and by, and the line of what there is. */
function chartOf({ folder, roomBytes, points }: ShownForecast, from: number): Html {
  return chart({
    ...{ title: said.chart(folder), when: said.day, unit: "bytes" },
    at: points.map(({ day }) => Math.round((from + day * dayMs) / 1_000)),
    series: [
      { label: said.more, kind: "strong", values: points.map(({ bytes }) => bytes) },
      { label: said.room, kind: "bad", values: points.map(() => roomBytes) },
    ],
  });
}

function daysTable({ folder, roomBytes, points }: ShownForecast, from: number): Html {
  const rows = points.map(({ day, bytes }) => [
    dayText(from, day),
    ...[sizeText(Math.max(0, bytes)), sizeText(Math.max(0, roomBytes - bytes))],
  ]);
  const head = [said.day, ...[said.more, said.left].map((text) => ({ text, isNumber: true }))];
  return table(head, rows, { caption: said.chart(folder), isCaptionHidden: true, empty: said.nothingGrows });
}

/** With its sign: of some kinds more goes than comes. */
function rateText(bytesPerDay: number): string {
  const size = sizeText(Math.abs(Math.round(bytesPerDay)));
  return bytesPerDay < 0 ? `−${size}` : size;
}

function ratesTable({ rates }: ShownForecast): Html {
  const rows = rates
    .filter(({ bytesPerDay }) => Math.round(bytesPerDay) !== 0)
    .map(({ what, bytesPerDay }) => [what, rateText(bytesPerDay)]);
  const head = [said.what, { text: said.aDay, isNumber: true }];
  return table(head, rows, { caption: said.rates, empty: said.nothingGrows });
}

function diskPart({ status, forecast, remedy: toDo }: ShownFinding, from: number): Html | undefined {
  if (forecast === undefined) return undefined;
  const { folder, measuredDays, roomBytes } = forecast;
  const full = fullText(forecast, from);
  const rows = facts([
    [said.full, status === "ok" ? full : badge("wait", full)],
    [said.room, sizeText(roomBytes)],
    [said.measured, said.lastDays(measuredDays)],
  ]);
  return html`<h3>${said.diskOf} ${shown(folder)}</h3>${rows}${toDo === undefined ? "" : remedy(toDo)}${chartOf(
    forecast,
    from,
  )}${ratesTable(forecast)}${details(said.asTable, daysTable(forecast, from))}`;
}

/** Of the last check; without one it says how to get one. */
export function growthSection({ check: { last } }: HealthFacts): Html {
  const found = (last?.result ?? []).filter(({ isGrowth }) => isGrowth === true);
  const from = last?.at ?? 0;
  const drawn = found.map((finding) => diskPart(finding, from)).filter((part) => part !== undefined);
  const told = found.filter(({ forecast }) => forecast === undefined).map(findingItem);
  const content =
    found.length === 0
      ? nothing(last === undefined ? said.never : said.noDisk)
      : html`${drawn.length === 0 ? "" : html`<p>${said.explained}</p>`}${drawn}${
          told.length === 0 ? "" : html`<ul class="findings">${told}</ul>`
        }`;
  return section(said.title, content, { id: "growth" });
}
