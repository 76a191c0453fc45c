/** `inbound/` as one session sees it: files of the company that wait, and the user's own unfinished uploads. */
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { isShownName } from "../client-path.ts";
import {
  type AttributeChange,
  denied,
  type ExchangeAttributes,
  type ExchangeEntry,
  noSuchFile,
  type OpenWriteFlags,
} from "../exchange-session.ts";
import { aliasFor, type InboundContext, InboundNames, keyOf } from "./inbound-names.ts";
import { renameUnfinished } from "./complete-upload.ts";
import { bringHome, findWithNode, namesWithNodes } from "./node-parts.ts";
import { traced } from "./intake.ts";
import { listFolder } from "../folders/listing.ts";
import { openUpload } from "./open-upload.ts";
import type { Upload } from "./upload.ts";

export class InboundFolder {
  readonly #context: InboundContext;
  readonly #names: InboundNames;

  constructor(context: InboundContext) {
    this.#context = context;
    this.#names = new InboundNames(context);
  }

  async stat(name: string): Promise<ExchangeAttributes> {
    const found = await this.#names.attributes(name);
    if (found === undefined) throw noSuchFile();
    return found;
  }

  /** Times are kept as data; a size can only be changed while the upload is open. */
  async change(name: string, change: AttributeChange): Promise<void> {
    const { claims, memory } = this.#context;
    const own = await this.#names.own(name);
    const upload = claims.uploadOf(own.key);
    if (upload !== undefined && !upload.isEnding) return await upload.change(change);
    const { size } = await this.stat(name);
    if (change.size !== undefined && change.size !== size)
      throw denied("The size of a file cannot be changed here");
    memory.setTimes(own.key, change);
  }

  /** Waiting files of everybody in the company, then the user's own unfinished ones. */
  async *list(): AsyncGenerator<readonly ExchangeEntry[]> {
    const { claims, company, disk } = this.#context;
    yield* listFolder({ disk, folder: await company.folders.inbound(), hasFolders: false });
    const partials = await this.#names.partials();
    if (partials === undefined) return;
    const writing = new Set(claims.namesIn(partials.path));
    for await (const page of listFolder({ disk, folder: partials, hasFolders: false, isShown: isOwnShown })) {
      for (const entry of page) writing.delete(entry.name);
      yield page.map((entry) => this.#ownEntry(partials, entry));
    }
    yield await this.#partsWithNodes(partials);
    yield [...writing].flatMap((name) => {
      const attributes = claims.uploadOf(keyOf(partials, name))?.currentAttributes();
      return attributes === undefined ? [] : [{ name: aliasFor(name), attributes }];
    });
  }

  openWrite(name: string, flags: OpenWriteFlags): Promise<Upload> {
    const { company, deps } = this.#context;
    return traced(deps.intake, company, () => openUpload(this.#names, name, flags));
  }

  async remove(name: string): Promise<void> {
    const { claims, disk, memory } = this.#context;
    const own = await this.#names.own(name);
    const partials = await this.#names.partials();
    const claim = await claims.claim(own.key);
    try {
      if (partials !== undefined) await bringHome(this.#context, partials, own.name);
      if (partials === undefined || (await this.#names.unfinished(own)) === undefined)
        throw await this.#names.whyNotOwn(name, own);
      await disk.unlink(partials.child(own.name));
      await partials.sync();
      memory.forget(own.key);
    } finally {
      claim.release();
    }
  }

  rename(from: string, name: string, { mayReplace }: { mayReplace: boolean }): Promise<void> {
    return renameUnfinished(this.#names, from, { name, mayReplace });
  }

  /** What other nodes are writing, or had when they died. */
  async #partsWithNodes(partials: PinnedFolder): Promise<readonly ExchangeEntry[]> {
    const entries: ExchangeEntry[] = [];
    for (const name of (await namesWithNodes(this.#context, partials)).filter(isOwnShown)) {
      const part = await findWithNode(this.#context, partials, name);
      if (part !== undefined) entries.push(this.#ownEntry(partials, { name, attributes: part.attributes }));
    }
    return entries;
  }

  #ownEntry(partials: PinnedFolder, entry: ExchangeEntry): ExchangeEntry {
    const { claims, memory } = this.#context;
    const key = keyOf(partials, entry.name);
    const attributes = claims.uploadOf(key)?.currentAttributes() ?? entry.attributes;
    return { name: aliasFor(entry.name), attributes: memory.withTimes(key, attributes) };
  }
}

/** Own names that can be sent back by a client; dot-files are unfinished ones here. */
function isOwnShown(name: string): boolean {
  return isShownName(name.replace(/^\.+/, "_"));
}
