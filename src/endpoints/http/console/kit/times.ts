/** Moments and lengths of time. The server writes UTC; the script of the console shows moments in the viewer's zone. */
import { dayMs, hourMs, minuteMs, secondMs } from "../../../../lib/durations.ts";
import { isoTime } from "../../../../lib/iso-time.ts";
import { words } from "../words/words.ts";
import { type Content, type Html, html } from "./html.ts";

export interface TimeShown {
  /** With milliseconds. */
  readonly isPrecise?: boolean;
}

/** A moment, milliseconds UTC; a dash where there is none. */
export function timeText(at: number | null | undefined, { isPrecise = false }: TimeShown = {}): Html {
  if (at === null || at === undefined) return html`<span class="none">${words.kit.none}</span>`;
  const iso = isoTime(at);
  const text = `${iso.slice(0, 10)} ${iso.slice(11, isPrecise ? 23 : 19)} UTC`;
  return html`<time datetime="${iso}"${isPrecise ? html` data-precise` : ""}>${text}</time>`;
}

/** What the stop's own clock shows. */
export interface StopClock {
  /** Such as `2026-11-05 08:20`. */
  readonly text: string;
  /** Of the tz database. */
  readonly zone: string;
}

/** May break after its slash, where paper leaves no room for the whole. */
function zoneText(zone: string): Content {
  return zone.split("/").map((part, index) => (index === 0 ? part : html`/<wbr>${part}`));
}

/**
 * A moment, and beside it the same as the stop's own clock shows it, where that is known; the script hides it where the
 * viewer's clock shows the same.
 */
export function timeWithLocal(at: number | null | undefined, local: StopClock | undefined): Html {
  if (local === undefined) return timeText(at);
  return html`${timeText(at)} <span class="local" data-local="${local.text}">(${local.text} <span class="unbroken">${zoneText(local.zone)}</span> ${words.kit.atStop})</span>`;
}

const units = [
  { ms: dayMs, text: words.kit.days, next: { ms: hourMs, text: words.kit.hours } },
  { ms: hourMs, text: words.kit.hours, next: { ms: minuteMs, text: words.kit.minutes } },
  { ms: minuteMs, text: words.kit.minutes, next: { ms: secondMs, text: words.kit.seconds } },
];

/** How long something takes or has waited, milliseconds: the two largest units; milliseconds below a second. */
export function durationText(ms: number): string {
  if (ms < 0) return words.kit.before(durationText(-ms));
  if (ms < secondMs) return words.kit.milliseconds(Math.round(ms));
  const unit = units.find((one) => ms >= one.ms);
  if (unit === undefined) return words.kit.seconds(Math.floor(ms / secondMs));
  const count = Math.floor(ms / unit.ms);
  const rest = Math.floor((ms % unit.ms) / unit.next.ms);
  return rest === 0 ? unit.text(count) : `${unit.text(count)} ${unit.next.text(rest)}`;
}
