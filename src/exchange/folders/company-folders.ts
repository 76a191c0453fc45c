import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { againFolderName } from "../../inbound/places/place-arrival.ts";
import { mkdir } from "../../lib/files/changes.ts";
import type { Clock } from "../../lib/clock.ts";
import { type DiskCalls, makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { type PinnedFolder, pinFolder } from "../../lib/files/open-regular-file.ts";
import { shortCall } from "../../lib/files/short-calls.ts";
import { doneFolderName, type FolderName, folderNames } from "./folder-rights.ts";

/** The dot-folder of `inbound/` under which unfinished uploads lie, one folder for each user. */
export const partialFolderName = ".partial";

/** The folder among a user's unfinished uploads with those that nodes are writing; no client can send a name with a backslash. */
export const nodesFolderName = "\\nodes";

async function isFolder(path: string): Promise<boolean> {
  const found = await shortCall(
    () => statSync(path, { throwIfNoEntry: false }),
    () => stat(path).catch(unlessMissing),
  );
  return found?.isDirectory() === true;
}

/** Makes the folders of a company (mode 0750), durably. Running it again changes nothing. Returns the company's folder. */
export async function ensureCompanyTree(companiesDir: string, code: string): Promise<string> {
  const company = join(companiesDir, code);
  const dotFolders = [partialFolderName, againFolderName].map((name) => join("inbound", name));
  for (const name of [...folderNames, ...dotFolders]) {
    const path = join(company, name);
    // A start with a thousand companies asks seven thousand times, and hardly ever makes one.
    if (!(await isFolder(path))) await makeDirectoryDurably(path);
  }
  return company;
}

const recheckMs = 1_000;

interface KeptFolder {
  folder: PinnedFolder;
  checkedAtMs: number;
}

/**
 * The folders of one company on disk. Those that uploads need stay open; once a second their paths are checked, so that a
 * folder which an administrator has replaced does not get acknowledged files for long.
 */
export class CompanyFolders {
  readonly #company: string;
  readonly #disk: DiskCalls;
  readonly #clock: Clock;
  readonly #kept = new Map<string, KeptFolder>();
  /** Replaced ones stay open until the end: a descriptor number must not be reused under a path that names it. */
  readonly #retired: PinnedFolder[] = [];

  constructor(company: string, deps: { readonly disk: DiskCalls; readonly clock: Clock }) {
    this.#company = company;
    this.#disk = deps.disk;
    this.#clock = deps.clock;
  }

  /** `inbound/`, kept open. */
  inbound(): Promise<PinnedFolder> {
    return this.#keep(["inbound"]);
  }

  /** The folder of a user's unfinished uploads, kept open; undefined when the user has none. */
  async partials(userId: number): Promise<PinnedFolder | undefined> {
    return await this.#keep(partialComponents(userId)).catch(unlessMissing);
  }

  /** The same, made when it is not there. */
  async madePartials(userId: number): Promise<PinnedFolder> {
    const found = await this.partials(userId);
    if (found !== undefined) return found;
    // Pinned before anything is made below it: a link in its place is refused, not followed.
    const inbound = await this.inbound();
    await makeDirectoryDurably(inbound.child(partialFolderName));
    await (await this.open(["inbound", partialFolderName])).close();
    await makeDirectoryDurably(join(inbound.child(partialFolderName), String(userId)));
    return await this.#keep(partialComponents(userId));
  }

  /** The folder of the unfinished uploads of a user that the node of that incarnation is writing, made when it is not there. */
  async madeOfNode(userId: number, incarnation: string): Promise<PinnedFolder> {
    const components = [...partialComponents(userId), nodesFolderName, incarnation];
    const found = await this.#keep(components).catch(unlessMissing);
    if (found !== undefined) return found;
    const partials = await this.madePartials(userId);
    await makeDirectoryDurably(join(partials.child(nodesFolderName), incarnation));
    return await this.#keep(components);
  }

  /** Pins a folder for one call; the caller closes it. Rejects with `ENOENT`, `ELOOP` or `ENOTDIR` otherwise. */
  open(components: readonly string[]): Promise<PinnedFolder> {
    return pinFolder(this.#company, components, this.#disk);
  }

  /** Makes `outbound/done/` unless it is there; says whether it was made. */
  async makeDone(): Promise<boolean> {
    const name: FolderName = "outbound";
    const outbound = await this.open([name]);
    try {
      await mkdir(outbound.child(doneFolderName), { mode: 0o750 });
      await outbound.sync();
      return true;
    } catch (error) {
      if (systemCodeOf(error) === "EEXIST") return false;
      throw error;
    } finally {
      await outbound.close();
    }
  }

  async close(): Promise<void> {
    const all = [...this.#retired, ...[...this.#kept.values()].map((kept) => kept.folder)];
    this.#kept.clear();
    this.#retired.length = 0;
    await Promise.all(all.map((folder) => folder.close()));
  }

  async #keep(components: readonly string[]): Promise<PinnedFolder> {
    const key = components.join("/");
    for (;;) {
      const nowMs = this.#clock.now();
      const kept = this.#kept.get(key);
      if (kept !== undefined && Math.abs(nowMs - kept.checkedAtMs) < recheckMs) return kept.folder;
      const found = await this.open(components);
      const isKept = kept !== undefined && (await this.#isSame(kept.folder, found));
      if (this.#kept.get(key) !== kept) {
        // Another call was quicker, and has perhaps found what has come since.
        await found.close();
      } else if (isKept) {
        kept.checkedAtMs = nowMs;
        await found.close();
        return kept.folder;
      } else {
        if (kept !== undefined) this.#retired.push(kept.folder);
        this.#kept.set(key, { folder: found, checkedAtMs: nowMs });
        return found;
      }
    }
  }

  /** Closes the one that was found when that cannot be told of it. */
  async #isSame(kept: PinnedFolder, found: PinnedFolder): Promise<boolean> {
    try {
      const there = await this.#disk.fstat(found.fd);
      // A server tells nothing more of a folder that is gone.
      const former = await this.#disk.fstat(kept.fd).catch(() => undefined);
      return former?.dev === there.dev && former.ino === there.ino;
    } catch (error) {
      await found.close();
      throw error;
    }
  }
}

function partialComponents(userId: number): string[] {
  return ["inbound", partialFolderName, String(userId)];
}
