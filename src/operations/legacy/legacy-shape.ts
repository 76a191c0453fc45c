/** What the shapes of the legacy JSON retrieval have in common (specification/legacy-services.md#json-retrieval). */
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const localDateTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d:\d\d)$/;

/** `2026-11-05T08:00:00` as `Nov 5, 2026 8:00:00 AM`; a text of another form as it is, nothing as nothing. */
export function legacyDateTime(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parts = localDateTime.exec(text);
  if (parts === null) return text;
  const [, year, month, day, hour, minuteAndSecond] = parts;
  const hours = Number(hour);
  const half = hours < 12 ? "AM" : "PM";
  return `${months[Number(month) - 1]} ${Number(day)}, ${year} ${hours % 12 === 0 ? 12 : hours % 12}:${minuteAndSecond} ${half}`;
}

export type TextOrNumber = string | number | undefined;

/** Typed clients fail on text where the interface says number: other values are left out. */
export function numberOf(value: TextOrNumber): number | undefined {
  if (value === undefined || String(value).trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Where fields stand in the shape; `true` is a field with a value. */
export interface FieldTree {
  readonly [name: string]: true | FieldTree;
}

export function leaves<Name extends string>(...names: Name[]): Readonly<Record<Name, true>> {
  return Object.fromEntries(names.map((name) => [name, true])) as Readonly<Record<Name, true>>;
}
