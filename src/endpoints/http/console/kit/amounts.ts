/** Numbers and sizes as pages show them. */
import { type Html, html } from "./html.ts";
import { words } from "../words/words.ts";

const units = ["B", "kB", "MB", "GB", "TB"];

/** A size in bytes: whole bytes below a thousand, three digits above. */
export function sizeText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return words.kit.none;
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** A count with thin spaces between thousands: 1 234 567. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+(?!\d))/g, "\u202f");
}

/** A figure for a tile: large, with what it counts, and a remark below it, such as the same weekday's. */
export function figure(value: string | Html, name: string, remark?: Html | string): Html {
  return html`<div class="figure"><span class="figure-name">${name}</span><span class="figure-value">${value}</span>${
    remark === undefined ? "" : html`<span class="figure-remark">${remark}</span>`
  }</div>`;
}
