/**
 * Files that an earlier run left in the folders without a ledger entry.
 *
 *   `inbound/`         under their final names: the process died between the answer to their close and their entry
 *   further folders    what the earlier run had not taken, or what stayed there because it is not whole: later files of its
 *                      stop waited for it
 *
 * The first scan of a folder takes them, or finds that they stay, but only when they have settled. Waiting files, or a host
 * that sends at once, would be quicker: the deletion of a stop would be decided before its creation. So nothing of a company
 * is decided until these files are in line, or keep back their stops, or their time is over.
 */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { foreignEntries } from "../../lib/files/foreign-calls.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { CountedPaths } from "../places/counted-paths.ts";
import {
  againFolderName,
  asideFolderName,
  mayBeCutInAgain,
  nameOfAgainFile,
} from "../places/place-arrival.ts";

const portion = 2_048;
/** A share that hangs must not block a start. */
const listingMs = 2_000;
/** Beyond the time to settle: for the scan and for syncing what it found. */
const marginMs = 10_000;

async function eachEntry(folder: string, visit: (entry: Dirent) => void): Promise<void> {
  try {
    for await (const entry of await opendir(folder, { bufferSize: portion })) visit(entry);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

/**
 * Paths of regular files under final names in the folder and in its `.again`, without those that are known; of a file that was
 * set aside that which the first scan gives it.
 */
async function findFilesOfEarlierRun(
  inbound: string,
  isKnown: (path: string) => boolean,
): Promise<LeftFiles> {
  const found = new CountedPaths();
  for (const folder of [inbound, join(inbound, againFolderName)]) {
    await eachEntry(folder, (entry) => {
      const path = join(folder, entry.name);
      // A listing may give a name twice that went and came back meanwhile.
      if (entry.isFile() && !isUnfinishedName(entry.name) && !isKnown(path) && !found.has(path))
        found.add(folder, entry.name);
    });
  }
  const again = join(inbound, againFolderName);
  const aside = new Map<string, string>();
  await eachEntry(join(inbound, asideFolderName), (entry) => {
    const name = nameOfAgainFile(entry.name);
    const own = join(inbound, name);
    // When the name is taken, it is by the copy of the file as a rule, and nothing else comes.
    if (!entry.isFile() || mayBeCutInAgain(name) || isKnown(own) || found.has(own)) return;
    found.add(inbound, name);
    aside.set(join(again, entry.name), name);
  });
  return { paths: found, aside };
}

interface LeftFiles {
  readonly paths: CountedPaths;
  /** Where files that were set aside may come instead, with the names by which `paths` has them. */
  readonly aside: ReadonlyMap<string, string>;
}

/** The stop files that lie in the folder, by their names. Others keep back nothing before they have been read. */
async function stopFilesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of foreignEntries(folder, portion))
    if (parseStopFileName(name).kind === "named" && !isUnfinishedName(name)) names.push(name);
  return names;
}

/** The listings of further folders that have not come back. */
const underWay = new Map<string, Promise<readonly string[]>>();

/**
 * Of a further folder: what cannot be listed, or not soon, is reported by its own scan. While a listing has not come back its
 * folder is not listed again, however often its company comes and goes: each call that hangs would keep a thread.
 */
async function listSoon(folder: string, log: Logger): Promise<readonly string[]> {
  let listed = underWay.get(folder);
  if (listed === undefined) {
    listed = stopFilesIn(folder)
      .catch((error: unknown) => {
        log.debug({ folder, reason: messageOf(error) }, "a further folder cannot be listed at the start");
        return [];
      })
      .finally(() => underWay.delete(folder));
    underWay.set(folder, listed);
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), listingMs);
  });
  return await Promise.race([listed, late]).finally(() => clearTimeout(timer));
}

/** Names of stop files, by their stops. */
class NamesByStop {
  readonly #names = new Map<string, Set<string>>();

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  add(name: string): void {
    const parsed = parseStopFileName(name);
    if (parsed.kind !== "named") return;
    const names = this.#names.get(parsed.stopNbr) ?? new Set();
    this.#names.set(parsed.stopNbr, names.add(name));
  }

  delete(name: string): void {
    this.#change(name, (names) => names.delete(name));
  }

  /** The file, and the later ones of its stop. */
  deleteFrom(name: string): void {
    // The time has a fixed length and the stop is the same: so the order of the names is that of the times.
    this.#change(name, (names) => {
      for (const other of names) if (other >= name) names.delete(other);
    });
  }

  #change(name: string, change: (names: Set<string>) => void): void {
    const parsed = parseStopFileName(name);
    const names = parsed.kind === "named" ? this.#names.get(parsed.stopNbr) : undefined;
    if (parsed.kind !== "named" || names === undefined) return;
    change(names);
    if (names.size === 0) this.#names.delete(parsed.stopNbr);
  }
}

/** A company whose folders are scanned. */
export interface SearchedCompany {
  readonly companyId: number;
  readonly companyCode: string;
  readonly inbound: string;
  readonly furtherFolders: readonly string[];
  readonly settleMs: number;
  readonly isKnown: (path: string) => boolean;
}

interface Held extends LeftFiles {
  readonly companyId: number;
  readonly inbound: string;
  /** Those in further folders. */
  readonly names: NamesByStop;
  readonly timer: NodeJS.Timeout;
  release(): void;
}

export class FilesOfEarlierRun {
  readonly #log: Logger;
  readonly #held = new Set<Held>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Calls `release` once all that lies there is in line or stays, or after some time: a file that never settles blocks nothing. */
  async waitFor(company: SearchedCompany, release: () => void): Promise<void> {
    const { companyId, companyCode, inbound, furtherFolders, settleMs, isKnown } = company;
    const listed = Promise.all(furtherFolders.map((folder) => listSoon(folder, this.#log)));
    let left: LeftFiles = { paths: new CountedPaths(), aside: new Map() };
    try {
      left = await findFilesOfEarlierRun(inbound, isKnown);
    } catch (error) {
      // A folder that cannot be read has nothing that the scan could bring.
      this.#log.error(
        { err: error, company: companyCode },
        "inbound/ cannot be scanned for files of an earlier run",
      );
    }
    const names = new NamesByStop();
    for (const name of (await listed).flat()) names.add(name);
    const timer = setTimeout(() => this.#giveUp(held), settleMs + marginMs);
    const held: Held = { ...left, companyId, inbound, names, timer, release };
    this.#held.add(held);
    this.#releaseIfDone(held);
  }

  /** The file is in line. */
  arrived({ companyId, name, path }: { companyId: number; name: string; path: string }): void {
    for (const held of this.#held) {
      held.paths.delete(dirname(path), basename(path));
      const ownName = held.aside.get(path);
      if (ownName !== undefined) held.paths.delete(held.inbound, ownName);
      if (held.companyId === companyId) held.names.delete(name);
      this.#releaseIfDone(held);
    }
  }

  /** The file stays in its folder for now: it keeps back the later ones of its stop itself. */
  stays({ companyId, name }: { readonly companyId: number; readonly name: string }): void {
    for (const held of this.#held) {
      if (held.companyId === companyId) {
        held.names.deleteFrom(name);
        held.paths.delete(held.inbound, name);
      }
      this.#releaseIfDone(held);
    }
  }

  clear(): void {
    for (const held of this.#held) clearTimeout(held.timer);
    this.#held.clear();
  }

  #releaseIfDone(held: Held): void {
    if (held.paths.isEmpty && held.names.isEmpty) this.#giveUp(held);
  }

  #giveUp(held: Held): void {
    clearTimeout(held.timer);
    this.#held.delete(held);
    held.release();
  }
}
