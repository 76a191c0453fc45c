/** One connection of one user: finds the company and folder that a path means, and lets the folder decide. */
import { componentsOf } from "./client-path.ts";
import { denied, exchangeErrorOf, noSuchFile } from "./disk-fault.ts";
import type { Download } from "./download.ts";
import type { SessionCompany, SessionContext } from "./exchange-deps.ts";
import {
  type AttributeChange,
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  type ExchangeErrorKind,
  type ExchangeRights,
  type ExchangeSession,
  type FileSystemStatistics,
  type OpenWriteFlags,
  type ReadHandle,
  type WriteHandle,
} from "./exchange-session.ts";
import {
  doneFolderName,
  type FolderName,
  fileRightsIn,
  folderNames,
  isFolderName,
  rightsOf,
} from "./folder-rights.ts";
import { InboundFolder } from "./inbound-folder.ts";
import { PlainFolder } from "./plain-folder.ts";
import type { Upload } from "./upload.ts";
import { UploadMemory } from "./upload-memory.ts";

/** What a path means. `rest` lies below the folder. */
type Place =
  | { readonly kind: "root" }
  | { readonly kind: "company"; readonly company: SessionCompany }
  | Inside;

interface Inside {
  readonly kind: "folder";
  readonly company: SessionCompany;
  readonly folder: FolderName;
  readonly rest: readonly string[];
}

interface FolderSessionOptions {
  readonly context: SessionContext;
  readonly companies: readonly SessionCompany[];
  readonly ended: () => void;
}

/**
 * What the disk has refused, and not what the client has asked in vain: a name that is taken, or none. A full disk is told
 * once, by the intake.
 */
const operatorsKinds: ReadonlySet<ExchangeErrorKind> = new Set(["failure", "tooLarge"]);

type Pages = AsyncGenerator<readonly ExchangeEntry[]>;

export class FolderSession implements ExchangeSession {
  readonly #context: SessionContext;
  readonly #companies: readonly SessionCompany[];
  readonly #ended: () => void;
  readonly #memory = new UploadMemory();
  readonly #uploads = new Set<Upload>();
  readonly #downloads = new Set<Download>();
  readonly #listings = new Set<Pages>();
  #hasEnded = false;

  constructor(options: FolderSessionOptions) {
    this.#context = options.context;
    this.#companies = options.companies;
    this.#ended = options.ended;
  }

  async realPath(path: string): Promise<string> {
    const components = componentsOf(path);
    const first = components[0];
    if (this.#companies.length > 1 && first !== undefined)
      components[0] = this.#companyOf(first)?.code ?? first;
    return `/${components.join("/")}`;
  }

  stat(path: string): Promise<ExchangeAttributes> {
    return this.#run(async () => {
      const place = this.#placeOf(path);
      if (place.kind !== "folder") return this.#virtualFolder();
      if (place.folder !== "inbound" || place.rest.length === 0)
        return await this.#plain(place).stat(place.rest);
      return await this.#inbound(place).stat(onlyName(place));
    });
  }

  rightsAt(path: string): ExchangeRights {
    const place = this.#findPlace(path);
    if (place?.kind !== "folder") return { get: false, put: false, remove: false, rename: false };
    return fileRightsIn(place.folder, place.rest.at(-1));
  }

  list(path: string): Promise<AsyncIterable<readonly ExchangeEntry[]>> {
    return this.#run(async () => {
      const pages = await this.#pagesOf(this.#placeOf(path));
      this.#listings.add(pages);
      return this.#translated(pages);
    });
  }

  openRead(path: string): Promise<ReadHandle> {
    return this.#run(async () => {
      const place = this.#placeOf(path);
      if (place.kind !== "folder") throw new ExchangeError("isADirectory", "This is a folder");
      if (place.folder === "inbound" && place.rest.length > 0)
        throw denied("Files in inbound/ cannot be read back");
      const download = await this.#plain(place).openRead(place.rest);
      await this.#track(this.#downloads, download);
      return download;
    });
  }

  openWrite(path: string, flags: OpenWriteFlags): Promise<WriteHandle> {
    return this.#run(async () => {
      const place = this.#inside(path, "Files can only be uploaded to inbound/");
      if (!rightsOf(place.folder).put) throw denied("Files can only be uploaded to inbound/");
      const upload = await this.#inbound(place).openWrite(onlyName(place), flags);
      await this.#track(this.#uploads, upload);
      return upload;
    });
  }

  change(path: string, change: AttributeChange): Promise<void> {
    return this.#run(async () => {
      const place = this.#placeOf(path);
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
      const place = this.#placeOf(path);
      if (place.kind !== "folder") throw denied("Folders cannot be deleted");
      if (place.folder !== "inbound") return await this.#plain(place).remove(place.rest);
      await this.#inbound(place).remove(onlyName(place));
    });
  }

  makeDirectory(path: string): Promise<void> {
    return this.#run(async () => {
      const place = this.#findPlace(path);
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
      const source = this.#inside(from, "Folders cannot be renamed");
      const target = this.#inside(to, "Files cannot be moved here");
      if (source.company.id !== target.company.id || source.folder !== target.folder) {
        throw denied("Files cannot be moved from one folder to another");
      }
      if (source.folder !== "inbound") return await this.#plain(source).rename(source.rest, target.rest);
      await this.#inbound(source).rename(onlyName(source), onlyName(target), options);
    });
  }

  statistics(path: string): Promise<FileSystemStatistics> {
    return this.#run(async () => {
      this.#placeOf(path);
      return await this.#context.intake.space.statistics();
    });
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = [...this.#uploads, ...this.#downloads].map((handle) => handle.abandon());
    const returns = [...this.#listings].map((pages) => pages.return(undefined));
    await Promise.allSettled([...ends, ...returns]);
    this.#ended();
  }

  /** Every call goes through here: nothing is begun after the end, and what the disk throws is translated once. */
  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#hasEnded) throw new ExchangeError("failure", "The session has ended");
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
      "file exchange could not do a request",
    );
  }

  /** Keeps a handle until it is closed, so that the end of the session ends it. */
  async #track<T extends Upload | Download>(handles: Set<T>, handle: T): Promise<void> {
    handles.add(handle);
    handle.onSettled(() => handles.delete(handle));
    if (this.#hasEnded) await handle.abandon();
  }

  /** No generator: the end of one that was never begun would not be noticed. */
  #translated(pages: Pages): AsyncIterableIterator<readonly ExchangeEntry[]> {
    const over = <T>(outcome: T): T => {
      this.#listings.delete(pages);
      return outcome;
    };
    const iterator: AsyncIterableIterator<readonly ExchangeEntry[]> = {
      async next() {
        try {
          const page = await pages.next();
          return page.done === true ? over(page) : page;
        } catch (error) {
          throw over(exchangeErrorOf(error));
        }
      },
      return: async () => over(await pages.return(undefined)),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async #pagesOf(place: Place): Promise<Pages> {
    if (place.kind === "root") return this.#virtualPage(this.#companies.map(({ code }) => code));
    if (place.kind === "company") return this.#virtualPage(folderNames);
    if (place.folder !== "inbound") return await this.#plain(place).list(place.rest);
    if (place.rest.length === 0) return this.#inbound(place).list();
    await this.#inbound(place).stat(onlyName(place));
    throw new ExchangeError("notADirectory", "This is a file");
  }

  async *#virtualPage(names: readonly string[]): Pages {
    yield names.map((name) => ({ name, attributes: this.#virtualFolder() }));
  }

  #virtualFolder(): ExchangeAttributes {
    const nowSeconds = Math.floor(this.#context.deps.clock.now() / 1000);
    return {
      isDirectory: true,
      size: 0,
      mode: 0o750,
      modifiedSeconds: nowSeconds,
      accessedSeconds: nowSeconds,
    };
  }

  async #isFolder(path: string): Promise<boolean> {
    try {
      return (await this.stat(path)).isDirectory;
    } catch {
      // Whatever hinders the look, the folder is not made; the refusal says so.
      return false;
    }
  }

  #companyOf(code: string): SessionCompany | undefined {
    return this.#companies.find((company) => company.code.toLowerCase() === code.toLowerCase());
  }

  #placeOf(path: string): Place {
    const place = this.#findPlace(path);
    if (place === undefined) throw noSuchFile();
    return place;
  }

  #findPlace(path: string): Place | undefined {
    const components = componentsOf(path);
    const isSingle = this.#companies.length === 1;
    const [code, ...below] = isSingle ? [this.#companies[0]?.code ?? "", ...components] : components;
    if (code === undefined) return { kind: "root" };
    const company = this.#companyOf(code);
    if (company === undefined) return undefined;
    const [folder, ...rest] = below;
    if (folder === undefined) return { kind: "company", company };
    if (!isFolderName(folder)) return undefined;
    return { kind: "folder", company, folder, rest };
  }

  #inside(path: string, otherwise: string): Inside {
    const place = this.#findPlace(path);
    if (place?.kind === "folder") return place;
    throw denied(otherwise);
  }

  #inbound(place: Inside): InboundFolder {
    return new InboundFolder(this.#context, place.company, this.#memory);
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
