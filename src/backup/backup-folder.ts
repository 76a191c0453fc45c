/**
 * Backups on the disk: a folder for each, in a folder of backups.
 *
 *   <destination>/
 *     20261105T020000.000Z-1a2b3c4d/        when it was begun (UTC), and the beginning of the instance of the state
 *       manifest.json                       what it is of, and the SHA-256 of files.sha256
 *       files.sha256                        every file of it with its SHA-256, as `sha256sum -c` reads it
 *       state/                              database, companies/, documents/, keys/ as a restore puts them
 *       configuration/                      dropgate.yaml and the expressions of its integrations
 *     20261106T020000.000Z-1a2b3c4d.part/   one that is being made, or that a crash has left: never used, removed by the next
 *
 * A folder gets its final name when all of it is durable and proved, and loses it before the first of its files is removed.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hash } from "node:crypto";
import { type Clock, systemClock } from "../lib/clock.ts";
import { messageOf, unlessMissing } from "../lib/errors.ts";
import { rename } from "../lib/files/changes.ts";
import { syncDirectory } from "../lib/files/durable-file.ts";
import { entriesOf } from "../lib/files/entries-of.ts";
import { removeFolder } from "../lib/files/remove-folder.ts";
import { isoTime } from "../lib/iso-time.ts";
import { OperatorError } from "../lib/operator-error.ts";

export const manifestName = "manifest.json";
export const listName = "files.sha256";
export const stateName = "state";
export const configurationName = "configuration";
export const partEnding = ".part";

const format = 1;

/** `manifest.json`; moments are milliseconds UTC. */
export interface Manifest {
  readonly format: number;
  readonly name: string;
  /** Of the state that it was taken of. */
  readonly instance: string;
  /** The number of the schema of the database. */
  readonly schema: number;
  /** Of the program that made it. */
  readonly version: string;
  /** All that was answered before this moment is in it. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** When the newest entry of the ledger was received; null when there is none. */
  readonly lastReceivedAt: number | null;
  /** The backup whose files it shares. */
  readonly base: string | null;
  readonly files: number;
  readonly bytes: number;
  /** Files that it shares with its base; the others were read and hashed. */
  readonly shared: number;
  /** Of those, files that were read again: a part of all, another one with each backup. */
  readonly reread: number;
  /** Which part that was, from 0; null when none was. */
  readonly rereadPart: number | null;
  readonly ledgerEntries: number;
  /** What the ledger and the files of the state disagreed about. */
  readonly discrepancies: readonly string[];
  /** SHA-256 of `files.sha256`. */
  readonly list: string;
}

export interface BackupFolder {
  readonly name: string;
  readonly folder: string;
  /** Milliseconds UTC. */
  readonly begunAt: number;
}

const nameForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z-([0-9a-f]{8})$/;

function shortOf(instance: string): string {
  return instance.slice(0, 8);
}

/** The name of a backup of that instance. */
export function backupName(begunAt: number, instance: string): string {
  return `${isoTime(begunAt).replaceAll(/[-:]/g, "")}-${shortOf(instance)}`;
}

function momentOfName(name: string): number | undefined {
  const parts = nameForm.exec(name);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function isOf(name: string, instance: string): boolean {
  return name.endsWith(`-${shortOf(instance)}`);
}

/** The whole backups in a folder, oldest first; of one instance when it is given. */
export async function listBackups(destination: string, instance?: string): Promise<readonly BackupFolder[]> {
  return (await entriesOf(destination))
    .filter((entry) => entry.isDirectory() && (instance === undefined || isOf(entry.name, instance)))
    .flatMap(({ name }) => {
      const begunAt = momentOfName(name);
      return begunAt === undefined ? [] : [{ name, begunAt, folder: join(destination, name) }];
    })
    .toSorted((one, other) => one.begunAt - other.begunAt);
}

/**
 * Removes what a crash has left of backups of the instance, and calls `removed` after each file. Only while nobody else makes
 * or removes one of it.
 */
export async function removeParts(
  destination: string,
  instance: string,
  removed?: () => void,
): Promise<void> {
  for (const entry of await entriesOf(destination)) {
    const { name } = entry;
    const whole = name.slice(0, -partEnding.length);
    if (
      entry.isDirectory() &&
      name.endsWith(partEnding) &&
      momentOfName(whole) !== undefined &&
      isOf(whole, instance)
    )
      await removeFolder(join(destination, name), removed);
  }
}

/** Removes a whole backup, and calls `removed` after each file: a crash in between leaves none that looks whole. */
export async function removeBackup(
  { folder }: Pick<BackupFolder, "folder">,
  removed?: () => void,
): Promise<void> {
  await rename(folder, folder + partEnding);
  await syncDirectory(dirname(folder));
  await removeFolder(folder + partEnding, removed);
}

/** Reads the manifest of a backup; throws when it cannot be used. */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, manifestName);
  const text = await readFile(path, "utf8").catch(unlessMissing);
  if (text === undefined)
    throw new OperatorError(`${folder} has no ${manifestName}, it is no whole backup: use another one`);
  let read: Manifest;
  try {
    read = JSON.parse(text) as Manifest;
  } catch (error) {
    throw new OperatorError(`${path} is damaged (${messageOf(error)}): use another backup`, { cause: error });
  }
  if (read.format === format) return read;
  throw new OperatorError(
    `${path} has the form ${String(read.format)}, this dropgate knows ${format}: use the version that made it`,
  );
}

async function isBackup(folder: string): Promise<boolean> {
  return (await stat(join(folder, manifestName)).catch(unlessMissing)) !== undefined;
}

/** The newest of each instance. */
function newestOfEach(backups: readonly BackupFolder[]): readonly BackupFolder[] {
  return [...new Map(backups.map((one) => [one.name.slice(one.name.indexOf("-")), one])).values()];
}

/** Throws when it is not certain that this is the newest one: nobody has named it. */
async function refuseDoubtful({ name, folder, begunAt }: BackupFolder, now: number): Promise<void> {
  if (begunAt > now)
    throw new OperatorError(
      `the newest backup ${folder} is dated in the future: correct the clock, or name the backup that is meant`,
    );
  const manifest = await readManifest(folder);
  if (manifest.name !== name)
    throw new OperatorError(
      `the backup ${folder} was made with the name ${manifest.name}: name the backup that is meant`,
    );
}

/**
 * The backup that a path stands for: itself, or the newest one in it. In a folder with those of several instances it is the
 * newest of the instance that is given; without one none is chosen.
 */
export async function findBackup(
  path: string,
  { instance, clock = systemClock }: { readonly instance?: string | undefined; readonly clock?: Clock } = {},
): Promise<string> {
  if (basename(path).endsWith(partEnding))
    throw new OperatorError(`${path} is not complete: it was interrupted; use another backup`);
  if (await isBackup(path)) return path;
  const backups = await listBackups(path);
  const candidates = newestOfEach(backups).filter(
    ({ name }) => instance === undefined || isOf(name, instance),
  );
  const [newest, ...others] = candidates;
  if (newest === undefined) {
    const of =
      instance !== undefined && backups.length > 0 ? ` of this state (instance ${shortOf(instance)})` : "";
    throw new OperatorError(`there is no backup${of} in ${path}: name a backup, or the folder that has some`);
  }
  if (others.length > 0) {
    const names = candidates.map(({ name }) => name).join(", ");
    throw new OperatorError(
      `${path} has backups of ${candidates.length} instances; name the one that is meant. The newest of each: ${names}`,
    );
  }
  await refuseDoubtful(newest, clock.now());
  return newest.folder;
}

export interface HashedFile {
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** A line break in a name would be one of the list; `sha256sum` marks such a line with a backslash. */
function listLine(path: string, sha256: string): string {
  if (!/[\\\n\r]/.test(path)) return `${sha256}  ${path}\n`;
  const escaped = path.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
  return `\\${sha256}  ${escaped}\n`;
}

const escapes: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", "\\r": "\r" };

/** The text of `files.sha256`. */
export function formatList(hashes: Iterable<readonly [path: string, sha256: string]>): string {
  let text = "";
  for (const [path, sha256] of hashes) text += listLine(path, sha256);
  return text;
}

/** Whether the path stays below the folder that it is relative to. */
function isInside(path: string): boolean {
  return (
    !path.startsWith("/") && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}

/** What a line of the list says. Not `.`, which leaves out line separators that a name may have. */
const lineForm = /^(\\?)([0-9a-f]{64}) {2}([^\n]+)$/;

/** The files of a backup by their paths, each with its SHA-256. Throws when the list is not that of the manifest. */
export async function readList(folder: string, manifest: Manifest): Promise<ReadonlyMap<string, string>> {
  const bytes = await readFile(join(folder, listName));
  if (hash("sha256", bytes, "hex") !== manifest.list)
    throw new OperatorError(`${join(folder, listName)} is not the list of its manifest: use another backup`);
  const found = new Map<string, string>();
  for (const line of bytes.toString("utf8").split("\n")) {
    if (line === "") continue;
    const [, begin, sha256 = "", text = ""] = lineForm.exec(line) ?? [];
    if (text === "")
      throw new OperatorError(
        `${join(folder, listName)} has a line of no file (${line}): use another backup`,
      );
    const path = begin === "" ? text : text.replaceAll(/\\[\\nr]/g, (mark) => escapes[mark] ?? mark);
    if (!isInside(path))
      throw new OperatorError(`${join(folder, listName)} names ${path}, outside of the backup`);
    found.set(path, sha256);
  }
  if (found.size !== manifest.files) {
    const counts = `${found.size} files, and its manifest ${manifest.files}`;
    throw new OperatorError(`${join(folder, listName)} names ${counts}: use another backup`);
  }
  return found;
}

/** The manifest of a backup that has just been made. */
export function newManifest(facts: Omit<Manifest, "format">): Manifest {
  return { format, ...facts };
}
