/**
 * `outbound/`, `receipts/`, `archive/` and `error/` as one session sees them: files that the server has written and hosts
 * read, take away or delete, as far as the table of rights lets them.
 */
import { basename, join } from "node:path";
import { isReceiptName } from "../../domain/files/stop-file-name.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { openRegularFile, type PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { isShownName } from "../client-path.ts";
import {
  denied,
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  noSuchFile,
} from "../exchange-session.ts";
import { Download, type ReadPart } from "./download.ts";
import type { Pickup, SessionCompany, SessionContext } from "../exchange-deps.ts";
import { doneFolderName, type FolderName, rightsOf } from "./folder-rights.ts";
import { attributesOf, listFolder, lookAt } from "./listing.ts";
import { referenceIn, referenceOfReceipt } from "./receipt-reference.ts";

export class PlainFolder {
  readonly #context: SessionContext;
  readonly #company: SessionCompany;
  readonly #name: FolderName;

  constructor(context: SessionContext, company: SessionCompany, name: FolderName) {
    this.#context = context;
    this.#company = company;
    this.#name = name;
  }

  /** `components` lie below the folder; an empty list is the folder itself. */
  async stat(components: readonly string[]): Promise<ExchangeAttributes> {
    if (components.length === 0) return await this.#within([], (folder) => this.#attributesOfFolder(folder));
    const found = await this.#withParent(components, (folder, name) =>
      lookAt(this.#context.disk, folder, name, this.#mayBeFolder(components)),
    );
    if (found === undefined) throw noSuchFile();
    return found;
  }

  /** Rejects at once when there is no such folder. */
  async list(components: readonly string[]): Promise<AsyncGenerator<readonly ExchangeEntry[]>> {
    const { isDirectory } = await this.stat(components);
    if (!isDirectory) throw new ExchangeError("notADirectory", "This is a file");
    return this.#pages(components);
  }

  async openRead(components: readonly string[]): Promise<Download> {
    if (!rightsOf(this.#name).get) throw denied(`Files in ${this.#name}/ cannot be read`);
    const { disk, transfers } = this.#context;
    return await this.#withParent(components, async (folder, name) => {
      const found = await lookAt(disk, folder, name, this.#mayBeFolder(components));
      if (found?.isDirectory === true) throw new ExchangeError("isADirectory", "This is a folder");
      const file = await openRegularFile(folder.child(name), undefined, disk);
      if (file === undefined) throw noSuchFile();
      const ended = (read: ReadPart) => this.#wasRead(join(folder.path, name), read);
      return new Download(file, { disk, transfers, keepsHead: this.#isReceipt(name), ended });
    });
  }

  async remove(components: readonly string[]): Promise<void> {
    const rights = rightsOf(this.#name);
    if (rights.remove !== "files") throw denied(`Files in ${this.#name}/ cannot be deleted`);
    const { deps, disk, peer } = this.#context;
    await this.#withParent(components, async (folder, name) => {
      if ((await lookAt(disk, folder, name)) === undefined) throw noSuchFile();
      const path = join(folder.path, name);
      if (rights.isRemovalRecorded) {
        await deps.recordRemoval({ companyId: this.#company.id, path, userName: peer.userName });
      }
      const reference = await this.#referenceOf(folder, name);
      await disk.unlink(folder.child(name));
      await folder.sync();
      this.#pickedUp("deleted", path);
      this.#collected(reference, { isUnread: true });
    });
  }

  /** Moves a file into `done/`; a file there is never replaced. */
  async rename(from: readonly string[], to: readonly string[]): Promise<void> {
    if (rightsOf(this.#name).rename !== "intoDone") throw denied(`Files in ${this.#name}/ cannot be renamed`);
    if (to.length !== 2 || to[0] !== doneFolderName) {
      throw denied(`Files in ${this.#name}/ can only be moved into ${this.#name}/${doneFolderName}/`);
    }
    const { disk } = this.#context;
    await this.#withParent(from, async (source, name) => {
      if ((await lookAt(disk, source, name)) === undefined) throw noSuchFile();
      await this.#company.folders.makeDone();
      await this.#withParent(to, async (target, newName) => {
        if (source.path === target.path && name === newName) return;
        await disk.link(source.child(name), target.child(newName));
        await target.sync();
        await disk.unlink(source.child(name));
        await source.sync();
        this.#pickedUp("moved", join(source.path, name));
      });
    });
  }

  async *#pages(components: readonly string[]): AsyncGenerator<readonly ExchangeEntry[]> {
    const folder = await this.#company.folders.open([this.#name, ...components]);
    try {
      yield* listFolder({ disk: this.#context.disk, folder, hasFolders: this.#hasFolders(components) });
    } finally {
      await folder.close();
    }
  }

  async #attributesOfFolder(folder: PinnedFolder): Promise<ExchangeAttributes> {
    return attributesOf(await this.#context.disk.fstat(folder.fd));
  }

  #hasFolders(components: readonly string[]): boolean {
    return components.length === 0 && rightsOf(this.#name).hasFolders;
  }

  #mayBeFolder(components: readonly string[]): boolean {
    return this.#hasFolders(components.slice(1));
  }

  /** Runs with the folder that holds the last component; hidden names and deeper folders do not exist. */
  async #withParent<T>(
    components: readonly string[],
    run: (folder: PinnedFolder, name: string) => Promise<T>,
  ): Promise<T> {
    const name = components.at(-1);
    if (name === undefined) throw new ExchangeError("isADirectory", "This is a folder");
    const depth = rightsOf(this.#name).hasFolders ? 2 : 1;
    if (components.length > depth || !components.every(isShownName)) throw noSuchFile();
    return await this.#within(components.slice(0, -1), (folder) => run(folder, name));
  }

  async #within<T>(components: readonly string[], run: (folder: PinnedFolder) => Promise<T>): Promise<T> {
    const folder = await this.#company.folders.open([this.#name, ...components]);
    try {
      return await run(folder);
    } finally {
      await folder.close();
    }
  }

  /** A file counts as downloaded with the part that makes it whole. */
  #wasRead(path: string, read: ReadPart): void {
    const { partialDownloads, peer } = this.#context;
    if (!rightsOf(this.#name).isPickupRecorded && !this.#isReceipt(basename(path))) return;
    if (!partialDownloads.add({ ...read, path, userId: peer.userId })) return;
    this.#pickedUp("downloaded", path);
    this.#collected(read.head && referenceIn(read.head), { isUnread: false });
  }

  #isReceipt(name: string): boolean {
    return rightsOf(this.#name).hasReceipts && isReceiptName(name);
  }

  /** Which ledger entry a receipt answers that is about to be deleted. */
  async #referenceOf(folder: PinnedFolder, name: string): Promise<string | undefined> {
    if (!this.#isReceipt(name)) return undefined;
    // Its deletion is noted for people alone: what cannot be read is deleted all the same.
    return await referenceOfReceipt(this.#context.disk, folder, name).catch(() => undefined);
  }

  #collected(reference: string | undefined, { isUnread }: { readonly isUnread: boolean }): void {
    if (reference === undefined) return;
    const { deps, peer } = this.#context;
    const { userName, channel: over } = peer;
    deps.receiptCollected?.({ companyId: this.#company.id, reference, userName, over, isUnread });
  }

  #pickedUp(kind: Pickup["kind"], path: string): void {
    const { deps, peer } = this.#context;
    if (!rightsOf(this.#name).isPickupRecorded) return;
    const { userName, address } = peer;
    const pickup = { kind, companyId: this.#company.id, path, userName, address };
    deps.recordPickup?.(pickup).catch((error: unknown) => {
      deps.log.error(
        { ...pickup, fault: messageOf(error), code: systemCodeOf(error) },
        "pickup not recorded",
      );
    });
  }
}
