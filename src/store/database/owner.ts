/**
 * Whose rows a unit of work writes: those of the company of that id alone; `unowned`, those of no company (sessions, notes of
 * the daemon about itself); or `site`, those of several companies, with or without rows of none.
 *
 * A database with several writers holds units back by it: units of the same owner run one after the other, and those of the
 * `site` beside no others. SQLite has one writer for all.
 */
export type Owner = number | "unowned" | "site";

/** The lane that a unit of this owner is written under: 0 for what is of no company; undefined for all of them. */
export function laneOf(owner: Owner): number | undefined {
  if (owner === "site") return undefined;
  return owner === "unowned" ? 0 : owner;
}
