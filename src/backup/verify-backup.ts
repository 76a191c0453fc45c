/** Verifies a backup by reading all of it: every file, the database, and that they belong together. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { databaseFileName } from "../store/database/database.ts";
import { openStoredCopy, type StoredCopy } from "../store/database/stored-copy.ts";
import {
  findBackup,
  type HashedFile,
  listName,
  type Manifest,
  manifestName,
  readList,
  readManifest,
  stateName,
} from "./backup-folder.ts";
import { findLostContents } from "./gather-state.ts";
import { filesBelow } from "./look-around.ts";
import { discrepancyTexts, lostTexts, proveLedger } from "./prove-copy.ts";
import { hashFile } from "./take-files.ts";

export interface VerifiedBackup {
  readonly folder: string;
  readonly manifest: Manifest;
  /** What is wrong with it, in words; empty for a backup that can be restored. */
  readonly faults: readonly string[];
  /** What the state had already when it was taken. */
  readonly discrepancies: readonly string[];
  /** Whether the ledger was proved: not where the schema is older than this program. */
  readonly isProved: boolean;
}

export type VerifyFilesProgress = (progress: { readonly done: number; readonly total: number }) => void;

interface ReadFiles {
  /** By their paths in the state. */
  readonly files: ReadonlyMap<string, HashedFile>;
  readonly faults: readonly string[];
}

function readFiles(
  folder: string,
  list: ReadonlyMap<string, string>,
  onProgress: VerifyFilesProgress | undefined,
): ReadFiles {
  const files = new Map<string, HashedFile>();
  const faults: string[] = [];
  let done = 0;
  for (const [path, sha256] of list) {
    done += 1;
    onProgress?.({ done, total: list.size });
    const at = join(folder, path);
    if (lstatSync(at, { throwIfNoEntry: false })?.isFile() !== true) {
      faults.push(`${path}: the file is missing`);
      continue;
    }
    const hashed = hashFile(at);
    if (hashed.sha256 !== sha256) faults.push(`${path}: the bytes are not those that were backed up`);
    if (path.startsWith(`${stateName}/`)) files.set(path.slice(stateName.length + 1), hashed);
  }
  const own = [listName, manifestName];
  for (const path of filesBelow(folder, ".")) {
    const known = path.slice("./".length);
    if (!list.has(known) && !own.includes(known)) faults.push(`${known}: the backup does not know this file`);
  }
  return { files, faults };
}

async function proofFaults(
  { folder, manifest, copy }: { folder: string; manifest: Manifest; copy: StoredCopy },
  files: ReadFiles["files"],
): Promise<readonly string[]> {
  if (copy.schemaFault !== undefined) return [copy.schemaFault];
  const damage = copy.damage().map((what) => `the database is damaged: ${what}`);
  const isOther = copy.instanceId !== manifest.instance;
  const other = isOther ? ["the database is of another instance than the manifest says"] : [];
  if (!copy.isCurrent || damage.length > 0) return [...damage, ...other];
  const report = await proveLedger({ stateDir: join(folder, stateName), copy: copy.read, files });
  const lost = lostTexts(await findLostContents(copy.read, { files }));
  const known = new Set(manifest.discrepancies);
  return [...other, ...[...discrepancyTexts(report), ...lost].filter((text) => !known.has(text))];
}

/** Verifies the backup, or the newest of a folder of backups. Throws when there is none that can be read. */
export async function verifyBackup(path: string, onProgress?: VerifyFilesProgress): Promise<VerifiedBackup> {
  const folder = await findBackup(path);
  const manifest = await readManifest(folder);
  const list = await readList(folder, manifest);
  const { files, faults } = readFiles(folder, list, onProgress);
  const { discrepancies } = manifest;
  if (!files.has(databaseFileName)) {
    const none = list.has(`${stateName}/${databaseFileName}`) ? [] : ["the backup has no database"];
    return { folder, manifest, faults: [...faults, ...none], discrepancies, isProved: false };
  }
  const copy = openStoredCopy(join(folder, stateName, databaseFileName));
  try {
    const found = await proofFaults({ folder, manifest, copy }, files);
    return { folder, manifest, faults: [...faults, ...found], discrepancies, isProved: copy.isCurrent };
  } finally {
    copy.close();
  }
}
