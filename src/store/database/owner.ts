/**
 * Whose rows a unit of work writes: those of the company of that id alone; `unowned`, those of no company (sessions, notes of
 * the daemon about itself); or `site`, those of several companies, with or without rows of none.
 *
 * A database with several writers holds units back by it: units of the same owner run one after the other, and those of the
 * `site` beside no others. SQLite has one writer for all.
 */
export type Owner = number | "unowned" | "site";
