/** Listings: lines as `ls -l` prints them (LIST), names (NLST), and facts (MLSD, MLST; RFC 3659). */
import {
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  type ExchangeRights,
  type ExchangeSession,
} from "../../exchange/exchange-session.ts";
import { longNameOf } from "../../exchange/connections/long-name.ts";

export const factNames = ["type", "size", "modify", "perm"] as const;
export type FactName = (typeof factNames)[number];

/** `20261105080000`, UTC: the form of MDTM and of the fact `modify`. */
export function timeValueOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14);
}

/** Seconds of such a time, with or without fractions; undefined when it is none. */
export function secondsOfTimeValue(text: string): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?$/.exec(text)?.slice(1);
  if (parts === undefined) return undefined;
  const [year, month, day, hour, minute, second] = parts;
  const seconds = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) / 1000;
  return Number.isNaN(seconds) || timeValueOf(seconds) !== parts.join("") ? undefined : seconds;
}

function permOf({ isDirectory }: ExchangeAttributes, rights: ExchangeRights): string {
  if (isDirectory) return rights.put ? "cel" : "el";
  const letters = [
    // Only unfinished uploads can be removed where files can be put: these can be continued as well.
    [rights.put && rights.remove, "aw"],
    [rights.remove, "d"],
    [rights.rename, "f"],
    [rights.get, "r"],
  ] as const;
  return letters.map(([isAllowed, letter]) => (isAllowed ? letter : "")).join("");
}

/** `type=file;size=7;modify=20261105080000;perm=r; `, with the facts that are wanted. */
export function factsOf(
  attributes: ExchangeAttributes,
  rights: ExchangeRights,
  wanted: ReadonlySet<FactName>,
): string {
  const { isDirectory, size, modifiedSeconds } = attributes;
  const values: Record<FactName, string | undefined> = {
    type: isDirectory ? "dir" : "file",
    size: isDirectory ? undefined : String(size),
    modify: timeValueOf(modifiedSeconds),
    perm: permOf(attributes, rights),
  };
  const facts = factNames.filter((name) => wanted.has(name) && values[name] !== undefined);
  return `${facts.map((name) => `${name}=${values[name]};`).join("")} `;
}

/** Whether a name fits a pattern of `*` (any characters) and `?` (one character). */
export function fitsPattern(name: string, pattern: string): boolean {
  const [letters, marks] = [[...name], [...pattern]];
  let [at, mark] = [0, 0];
  let star: { readonly mark: number; at: number } | undefined;
  while (at < letters.length) {
    if (
      mark < marks.length &&
      (marks[mark] === "?" || (marks[mark] !== "*" && marks[mark] === letters[at]))
    ) {
      at += 1;
      mark += 1;
    } else if (marks[mark] === "*") {
      star = { mark, at };
      mark += 1;
    } else if (star !== undefined) {
      star.at += 1;
      at = star.at;
      mark = star.mark + 1;
    } else {
      return false;
    }
  }
  return marks.slice(mark).every((left) => left === "*");
}

/** Entries in pages, and the line that an entry becomes; undefined for those that are not shown. */
export interface Listing {
  readonly pages: AsyncIterable<readonly ExchangeEntry[]>;
  readonly lineOf: (entry: ExchangeEntry) => string | undefined;
}

interface Wanted {
  /** As the client has written it, up to the last `/`; empty when there is none. */
  readonly front: string;
  readonly pages: AsyncIterable<readonly ExchangeEntry[]>;
  readonly isShown: (name: string) => boolean;
}

/** The absolute path that a client's argument means. */
type PathOf = (argument: string) => Promise<string>;

const all = (): boolean => true;

async function* single(entry: ExchangeEntry): AsyncGenerator<readonly ExchangeEntry[]> {
  yield [entry];
}

async function statUnlessPattern(exchange: ExchangeSession, path: string, isPattern: boolean) {
  try {
    return await exchange.stat(path);
  } catch (error) {
    if (isPattern && error instanceof ExchangeError && error.kind === "noSuchFile") return undefined;
    throw error;
  }
}

/** The folder, the file or the files of a pattern that the argument means. Rejects when there is nothing of that name. */
async function wantedOf(exchange: ExchangeSession, argument: string, pathOf: PathOf): Promise<Wanted> {
  const at = argument.lastIndexOf("/") + 1;
  const [front, last] = [argument.slice(0, at), argument.slice(at)];
  const path = await pathOf(argument);
  const attributes = await statUnlessPattern(exchange, path, /[*?]/.test(last));
  if (attributes === undefined) {
    const pages = await exchange.list(await pathOf(front));
    return { front, pages, isShown: (name) => fitsPattern(name, last) };
  }
  if (!attributes.isDirectory) return { front, pages: single({ name: last, attributes }), isShown: all };
  const isBare = last === "" || argument === ".";
  return { front: isBare ? front : `${argument}/`, pages: await exchange.list(path), isShown: all };
}

/** Lines of LIST. */
export async function longListing(
  exchange: ExchangeSession,
  argument: string,
  pathOf: PathOf,
): Promise<Listing> {
  const { pages, isShown } = await wantedOf(exchange, argument, pathOf);
  const nowSeconds = Date.now() / 1000;
  return { pages, lineOf: (entry) => (isShown(entry.name) ? longNameOf(entry, nowSeconds) : undefined) };
}

/** Names of NLST, with the folder before them that the client has named: `mget` asks for them as they stand. */
export async function nameListing(
  exchange: ExchangeSession,
  argument: string,
  pathOf: PathOf,
): Promise<Listing> {
  const { front, pages, isShown } = await wantedOf(exchange, argument, pathOf);
  return { pages, lineOf: ({ name }) => (isShown(name) ? `${front}${name}` : undefined) };
}

/** Lines of MLSD, for folders alone. */
export async function factListing(
  exchange: ExchangeSession,
  path: string,
  wanted: ReadonlySet<FactName>,
): Promise<Listing> {
  const pages = await exchange.list(path);
  const below = path.endsWith("/") ? path : `${path}/`;
  return {
    pages,
    lineOf: ({ name, attributes }) =>
      `${factsOf(attributes, exchange.rightsAt(below + name), wanted)}${name}`,
  };
}
