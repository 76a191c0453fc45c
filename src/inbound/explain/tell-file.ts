/** The story of one file of the ledger: where its bytes are, what goes before it, what came of it. */
import type { ExplainDependencies, FileStory, BytesPresence } from "./explanation.ts";
import { lstat } from "node:fs/promises";
import { isOpenState } from "../../domain/files/file-state.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";
import { listDeliveries } from "../../store/outbound/delivery-lists.ts";
import { findEarlierOfStop, findFilesBefore, type PlaceInLine } from "../../store/ledger/file-queries.ts";
import { findFile, type LedgerEntry, listFileRepeats } from "../../store/ledger/files.ts";
import { isEndedDelivery } from "../../domain/outbound/delivery-state.ts";
import { arrivalTime } from "../lanes/waiting-file.ts";
import { findKeepingBack } from "../recovery/find-loose-files.ts";
import { canBeRead } from "../recovery/folder-looks.ts";

async function presenceOf(entry: LedgerEntry, path: string): Promise<BytesPresence> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) return "notAFile";
    return (await canBeRead(path)) ? "there" : "unreadable";
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    if (!isMissing(error)) return "unreadable";
    return entry.removedAt === null ? "absent" : "removed";
  }
}

/** A decided file that is not filed away yet may still lie where it came from. */
export async function whereabouts(
  deps: Pick<ExplainDependencies, "locations">,
  entry: LedgerEntry,
): Promise<Pick<FileStory, "path" | "presence">> {
  const path = deps.locations.fromLedger(entry.location);
  const presence = await presenceOf(entry, path);
  if (presence !== "absent" || entry.isFiled) return { path, presence };
  const source = deps.locations.fromLedger(entry.source);
  const atSource = await presenceOf(entry, source);
  return atSource === "absent" ? { path, presence } : { path: source, presence: atSource };
}

function millisecondsOf(time: number): number {
  const text = String(time).padStart(14, "0");
  const part = (from: number, to: number) => Number(text.slice(from, to));
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14));
}

async function earlierOfStop(
  deps: ExplainDependencies,
  { company, entry, place }: { company: string; entry: LedgerEntry; place: PlaceInLine },
): Promise<Pick<FileStory, "ofSameStop" | "inFolders">> {
  const name = parseStopFileName(entry.name);
  if (name.kind !== "named") return {};
  const earlier = await findEarlierOfStop(deps.store.read, { ...place, stopNbr: name.stopNbr });
  const told = await Promise.all(
    earlier.map(async (one) => ({ id: one.id, name: one.name, ...(await whereabouts(deps, one)) })),
  );
  const known = new Set(told.map(({ path }) => path));
  const inFolders = await findKeepingBack(deps, { company, stopNbr: name.stopNbr, before: place.time });
  return { ofSameStop: told, inFolders: inFolders.filter(({ path }) => !known.has(path)) };
}

/** The files before a waiting file. */
async function lineBefore(
  deps: ExplainDependencies,
  company: string,
  entry: LedgerEntry,
): Promise<Pick<FileStory, "before" | "ofSameStop" | "inFolders">> {
  const time = entry.nameTime ?? arrivalTime(entry.receivedAt);
  const place = { companyId: entry.companyId, id: entry.id, time, timeMs: millisecondsOf(time) };
  const before = await findFilesBefore(deps.store.read, place);
  return { before, ...(await earlierOfStop(deps, { company, entry, place })) };
}

const maxGoesOut = 5;

/** The file is applied; what waits now is about its stop. */
async function goesOutOf({ store: { read } }: ExplainDependencies, entry: LedgerEntry) {
  const { state, stopNbr, companyId, receivedAt: since } = entry;
  if (state !== "applied" || stopNbr === null) return [];
  const ofStop = { companyId, stopNbr, since, limit: maxGoesOut };
  const newest = await listDeliveries(read, ofStop);
  const open = newest.filter((one) => !isEndedDelivery(one.state));
  return (open.length > 0 ? open : newest.slice(0, 1)).toReversed();
}

export async function tellFile(
  deps: ExplainDependencies,
  company: string,
  entry: LedgerEntry,
): Promise<FileStory> {
  const first = entry.firstId === null ? undefined : await findFile(deps.store.read, entry.firstId);
  return {
    company,
    entry,
    ...(await whereabouts(deps, entry)),
    goesOut: await goesOutOf(deps, entry),
    repeats: await listFileRepeats(deps.store.read, entry.id),
    ...(first === undefined ? {} : { first }),
    ...(isOpenState(entry.state) ? await lineBefore(deps, company, entry) : {}),
  };
}

/** A file of a stop; its text is about its first Stop, which may be another. */
export function asFileOfStop(story: FileStory, stopNbr: string): FileStory {
  const { entry } = story;
  const name = parseStopFileName(entry.name);
  const isNamed = name.kind === "named" && stopNumberForms(stopNbr).includes(name.stopNbr);
  const isFirst = entry.stopNbr === null || entry.stopNbr.toLowerCase() === stopNbr.toLowerCase();
  return isNamed || isFirst ? story : { ...story, laterStop: stopNbr };
}
