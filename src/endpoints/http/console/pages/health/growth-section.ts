/** How the state grows, and when its disks are full: what the daemon has measured last, drawn and as a table. */
import { dayMs } from "../../../../../lib/durations.ts";
import { isoTime } from "../../../../../lib/iso-time.ts";
import { sizeText } from "../../kit/amounts.ts";
import { badge } from "../../kit/badge.ts";
import { chart } from "../../kit/chart.ts";
import { type Html, html } from "../../kit/html.ts";
import { nothing, notice, remedy } from "../../kit/notice.ts";
import { details, facts, section } from "../../kit/section.ts";
import { code, shown } from "../../kit/shown-text.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { words } from "../../words/words.ts";
import { findingItem } from "./health-sections.ts";
import type { HealthFacts, ShownFinding, ShownForecast } from "./health-view.ts";

const said = words.health.growth;

function dayText(from: number, days: number): string {
  return isoTime(from + days * dayMs).slice(0, 10);
}

/** When a disk is full, as measured at that moment (milliseconds UTC). */
export function fullText({ fullInDays }: Pick<ShownForecast, "fullInDays">, from: number): string {
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

/** What is kept by a setting is told with it: that is how less of it is kept. */
function kindText(what: string): Html {
  const kind = Object.entries(said.kinds).find(([name]) => name === what)?.[1];
  return kind === undefined ? shown(what) : html`${kind} <small>${code(`retention.${what}`)}</small>`;
}

function ratesTable({ rates }: ShownForecast): Html {
  const rows = rates
    .filter(({ bytesPerDay }) => Math.round(bytesPerDay) !== 0)
    .map(({ what, bytesPerDay }) => [kindText(what), rateText(bytesPerDay)]);
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

/** By itself the daemon measures some times a day; a check that somebody has begun may be newer. */
function lastMeasured({ growth, check }: Pick<HealthFacts, "growth" | "check">) {
  const [own, asked] = [growth.last, check.last];
  return asked !== undefined && asked.at >= (own?.at ?? 0) ? asked : own;
}

/** How the measurement stands that is not there, or did not come about. */
function growthState({ failure, running }: HealthFacts["growth"], isMeasured: boolean): Html | undefined {
  if (failure !== undefined)
    return notice("wait", html`<p>${said.failed} ${shown(failure.message)} (${timeText(failure.at)})</p>`);
  return running === undefined || isMeasured ? undefined : notice("off", html`<p>${said.running}</p>`);
}

/** What was measured last, and when. */
export function growthSection(known: Pick<HealthFacts, "growth" | "check">): Html {
  const last = lastMeasured(known);
  const found = (last?.result ?? []).filter(({ isGrowth }) => isGrowth === true);
  const from = last?.at ?? 0;
  const drawn = found.map((finding) => diskPart(finding, from)).filter((part) => part !== undefined);
  const told = found.filter(({ forecast }) => forecast === undefined).map(findingItem);
  const content =
    found.length === 0
      ? nothing(last === undefined ? said.never : said.noDisk)
      : html`<p>${said.measuredAt} ${timeText(from)}. ${drawn.length === 0 ? "" : said.explained}</p>${drawn}${
          told.length === 0 ? "" : html`<ul class="findings">${told}</ul>`
        }`;
  return section(said.title, [growthState(known.growth, last !== undefined), content], { id: "growth" });
}
