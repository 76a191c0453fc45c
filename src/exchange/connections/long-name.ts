import type { ExchangeEntry } from "../exchange-session.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const halfYearSeconds = 182 * 24 * 3600;

function permissionsText(mode: number): string {
  let text = "";
  for (let bit = 8; bit >= 0; bit -= 1) text += mode & (1 << bit) ? "xwr".charAt(bit % 3) : "-";
  return text;
}

/** `Nov 19 20:52` for a recent time, `Nov 19  2024` otherwise, as `ls -l` does (UTC). */
function timeText(seconds: number, nowSeconds: number): string {
  const date = new Date(seconds * 1000);
  const day = `${months[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)}`;
  const isRecent = seconds > nowSeconds - halfYearSeconds && seconds <= nowSeconds + 3600;
  if (!isRecent) return `${day}  ${date.getUTCFullYear()}`;
  return `${day} ${date.toISOString().slice(11, 16)}`;
}

/** The line `ls -l` would print for an entry; some clients show nothing else, some read it. */
export function longNameOf(entry: ExchangeEntry, nowSeconds: number): string {
  const { attributes, name } = entry;
  const type = attributes.isDirectory ? "d" : "-";
  const size = String(attributes.size).padStart(8);
  const time = timeText(attributes.modifiedSeconds, nowSeconds);
  return `${type}${permissionsText(attributes.mode)}    1 dropgate dropgate ${size} ${time} ${name}`;
}
