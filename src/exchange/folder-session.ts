/** One connection of one user: finds the company and folder that a path means, and lets the folder decide. */
import { componentsOf } from "./client-path.ts";
import { ClientTree, type Inside, type Place, virtualFolder } from "./folders/client-tree.ts";
import {
  type AttributeChange,
  denied,
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  type ExchangeErrorKind,
  exchangeErrorOf,
  type ExchangeRights,
  type ExchangeSession,
  type FileSystemStatistics,
  noSuchFile,
  type OpenWriteFlags,
  type ReadHandle,
  type WriteHandle,
} from "./exchange-session.ts";
import type { SessionCompany, SessionContext } from "./exchange-deps.ts";
import { doneFolderName, fileRightsIn, folderNames, rightsOf } from "./folders/folder-rights.ts";
import { InboundFolder } from "./uploads/inbound-folder.ts";
import { OpenHandles, type Pages } from "./open-handles.ts";
import { PlainFolder } from "./folders/plain-folder.ts";
import { UploadMemory } from "./uploads/upload-memory.ts";

interface FolderSessionOptions {
  readonly context: SessionContext;
  readonly companies: readonly SessionCompany[];
  readonly ended: () => void;
}

/**
 * Faults of the disk, as opposed to requests that cannot be met, such as for a name that is taken. The intake logs a full
 * disk, once.
 */
const operatorsKinds: ReadonlySet<ExchangeErrorKind> = new Set(["failure", "tooLarge"]);

export class FolderSession implements ExchangeSession {
  readonly #context: SessionContext;
  readonly #tree: ClientTree;
  readonly #ended: () => void;
  readonly #memory = new UploadMemory();
  readonly #open = new OpenHandles();

  constructor(options: FolderSessionOptions) {
    this.#context = options.context;
    this.#tree = new ClientTree(options.companies);
    this.#ended = options.ended;
  }

  async realPath(path: string): Promise<string> {
    return this.#tree.realPath(path);
  }

  stat(path: string): Promise<ExchangeAttributes> {
    return this.#run(async () => {
      const place = this.#tree.at(path);
      if (place.kind !== "folder") return virtualFolder(this.#context.deps.clock.now());
      if (place.folder !== "inbound" || place.rest.length === 0)
        return await this.#plain(place).stat(place.rest);
      return await this.#inbound(place).stat(onlyName(place));
    });
  }

  rightsAt(path: string): ExchangeRights {
    const place = this.#tree.find(path);
    if (place?.kind !== "folder") return { get: false, put: false, remove: false, rename: false };
    return fileRightsIn(place.folder, place.rest.at(-1));
  }

  list(path: string): Promise<AsyncIterable<readonly ExchangeEntry[]>> {
    return this.#run(async () => {
      return this.#open.keepListing(await this.#pagesOf(this.#tree.at(path)));
    });
  }

  openRead(path: string): Promise<ReadHandle> {
    return this.#run(async () => {
      const place = this.#tree.at(path);
      if (place.kind !== "folder") throw new ExchangeError("isADirectory", "This is a folder");
      if (place.folder === "inbound" && place.rest.length > 0)
        throw denied("Files in inbound/ cannot be read back");
      return await this.#open.keep(await this.#plain(place).openRead(place.rest));
    });
  }

  openWrite(path: string, flags: OpenWriteFlags): Promise<WriteHandle> {
    return this.#run(async () => {
      const place = this.#tree.inside(path, "Files can only be uploaded to inbound/");
      if (!rightsOf(place.folder).put) throw denied("Files can only be uploaded to inbound/");
      return await this.#open.keep(await this.#inbound(place).openWrite(onlyName(place), flags));
    });
  }

  change(path: string, change: AttributeChange): Promise<void> {
    return this.#run(async () => {
      const place = this.#tree.at(path);
      if (place.kind === "folder" && place.folder === "inbound" && place.rest.length > 0) {
        return await this.#inbound(place).change(onlyName(place), change);
      }
      const { size, isDirectory } = await this.stat(path);
      // Times and modes of the server's own files are its own; clients that try to copy them need no error for that.
      if (change.size === undefined || (change.size === size && !isDirectory)) return;
      throw denied("The size of a file cannot be changed here");
    });
  }

  remove(path: string): Promise<void> {
    return this.#run(async () => {
      const place = this.#tree.at(path);
      if (place.kind !== "folder") throw denied("Folders cannot be deleted");
      if (place.folder !== "inbound") return await this.#plain(place).remove(place.rest);
      await this.#inbound(place).remove(onlyName(place));
    });
  }

  makeDirectory(path: string): Promise<void> {
    return this.#run(async () => {
      const place = this.#tree.find(path);
      const isDone = place?.kind === "folder" && place.folder === "outbound" && isDoneFolder(place.rest);
      if (isDone && (await place.company.folders.makeDone())) return;
      if (isDone || (await this.#isFolder(path))) {
        throw new ExchangeError("alreadyExists", "A folder of this name exists already");
      }
      throw denied("Folders cannot be made here");
    });
  }

  async removeDirectory(path: string): Promise<void> {
    componentsOf(path);
    throw denied("Folders cannot be deleted");
  }

  rename(from: string, to: string, options: { mayReplace: boolean }): Promise<void> {
    return this.#run(async () => {
      const source = this.#tree.inside(from, "Folders cannot be renamed");
      const target = this.#tree.inside(to, "Files cannot be moved here");
      if (source.company.id !== target.company.id || source.folder !== target.folder) {
        throw denied("Files cannot be moved from one folder to another");
      }
      if (source.folder !== "inbound") return await this.#plain(source).rename(source.rest, target.rest);
      await this.#inbound(source).rename(onlyName(source), onlyName(target), options);
    });
  }

  statistics(path: string): Promise<FileSystemStatistics> {
    return this.#run(async () => {
      this.#tree.at(path);
      return await this.#context.deps.intake.space.statistics();
    });
  }

  async end(): Promise<void> {
    await this.#open.end();
    this.#ended();
  }

  /** Every call goes through here: nothing is begun after the end, and what the disk throws is translated once. */
  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#open.hasEnded) throw new ExchangeError("failure", "The session has ended");
    try {
      return await work();
    } catch (error) {
      const refusal = exchangeErrorOf(error);
      if (refusal.cause !== undefined && operatorsKinds.has(refusal.kind)) this.#logFault(refusal);
      throw refusal;
    }
  }

  #logFault(fault: ExchangeError): void {
    const { connectionId, userName, channel } = this.#context.peer;
    this.#context.deps.log.warn(
      { err: fault, connectionId, userName, channel },
      "a request of the file exchange failed",
    );
  }

  async #pagesOf(place: Place): Promise<Pages> {
    if (place.kind === "root") return this.#virtualPage(this.#tree.companyCodes);
    if (place.kind === "company") return this.#virtualPage(folderNames);
    if (place.folder !== "inbound") return await this.#plain(place).list(place.rest);
    if (place.rest.length === 0) return this.#inbound(place).list();
    await this.#inbound(place).stat(onlyName(place));
    throw new ExchangeError("notADirectory", "This is a file");
  }

  async *#virtualPage(names: readonly string[]): Pages {
    const attributes = virtualFolder(this.#context.deps.clock.now());
    yield names.map((name) => ({ name, attributes }));
  }

  async #isFolder(path: string): Promise<boolean> {
    try {
      return (await this.stat(path)).isDirectory;
    } catch {
      // Whatever the fault, the folder is not made; the refusal says so.
      return false;
    }
  }

  #inbound(place: Inside): InboundFolder {
    return new InboundFolder({ ...this.#context, company: place.company, memory: this.#memory });
  }

  #plain(place: Inside): PlainFolder {
    return new PlainFolder(this.#context, place.company, place.folder);
  }
}

/** The name of a file in `inbound/`, which has no folders that a client could see. */
function onlyName(place: Inside): string {
  const [name, ...deeper] = place.rest;
  if (name === undefined) throw new ExchangeError("isADirectory", "This is a folder");
  if (deeper.length > 0) throw noSuchFile();
  return name;
}

function isDoneFolder(rest: readonly string[]): boolean {
  return rest.length === 1 && rest[0] === doneFolderName;
}
