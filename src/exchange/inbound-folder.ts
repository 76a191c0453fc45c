/**
 * `inbound/` as one session sees it: the files of the company that wait, and the user's own unfinished uploads, which lie
 * in `inbound/.partial/<userId>/` and become files by a clean close or by a rename.
 *
 *   client name         on disk                          becomes a file
 *   x.xml               .partial/<userId>/x.xml          at the close
 *   .x.xml.partial      the same, after a broken link    when continued as x.xml, or renamed
 *   x.xml.part, .x      .partial/<userId>/<same name>    when renamed to a name that does not say "unfinished"
 */
import { constants } from "node:fs";
import { isUnfinishedName } from "../domain/files/unfinished-name.ts";
import type { Arrival } from "../inbound/places/inbox.ts";
import { placeArrival } from "../inbound/places/place-arrival.ts";
import { unlessMissing } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import { openRegularFile, type PinnedFolder } from "../lib/files/open-regular-file.ts";
import { AheadBytes } from "./ahead-bytes.ts";
import { isShownName } from "./client-path.ts";
import { denied, exchangeErrorOf, noSuchFile } from "./disk-fault.ts";
import type { SessionCompany, SessionContext } from "./exchange-deps.ts";
import {
  type AttributeChange,
  type ExchangeAttributes,
  type ExchangeEntry,
  ExchangeError,
  type OpenWriteFlags,
} from "./exchange-session.ts";
import { hasArrived, listFolder, lookAt, lookAtPart } from "./listing.ts";
import { aliasFor, nameOfAlias } from "./unfinished-alias.ts";
import { Upload } from "./upload.ts";
import { UploadFile } from "./upload-file.ts";
import type { UploadMemory } from "./upload-memory.ts";

/** An own unfinished file. */
interface Own {
  /** Its name in the user's folder. */
  readonly name: string;
  /** The client used a name that says "unfinished": a close leaves it so. */
  readonly staysUnfinished: boolean;
  readonly key: string;
}

/** An own unfinished file that is to become a file of this name. */
interface Target {
  readonly partials: PinnedFolder;
  readonly own: Own;
  readonly name: string;
  readonly attributes: ExchangeAttributes;
  /** Milliseconds UTC. */
  readonly closedAt: number;
}

const waitingText = "This file waits to be processed and cannot be changed or deleted";

export class InboundFolder {
  readonly #context: SessionContext;
  readonly #company: SessionCompany;
  readonly #memory: UploadMemory;

  constructor(context: SessionContext, company: SessionCompany, memory: UploadMemory) {
    this.#context = context;
    this.#company = company;
    this.#memory = memory;
  }

  async stat(name: string): Promise<ExchangeAttributes> {
    const own = await this.#ownOf(name);
    const known = this.#context.claims.uploadOf(own.key)?.currentAttributes() ?? this.#completedAs(name, own);
    const found = known ?? (await this.#waiting(name)) ?? (await this.#unfinished(own));
    if (found === undefined) throw noSuchFile();
    return found;
  }

  /** Times are kept as data; a size can only be changed while the upload is open. */
  async change(name: string, change: AttributeChange): Promise<void> {
    const own = await this.#ownOf(name);
    const upload = this.#context.claims.uploadOf(own.key);
    if (upload !== undefined && !upload.isEnding) return await upload.change(change);
    const { size } = await this.stat(name);
    if (change.size !== undefined && change.size !== size)
      throw denied("The size of a file cannot be changed here");
    this.#memory.setTimes(own.key, change);
  }

  /** Waiting files of everybody in the company, then the user's own unfinished ones. */
  async *list(): AsyncGenerator<readonly ExchangeEntry[]> {
    const { disk, claims } = this.#context;
    yield* listFolder({ disk, folder: await this.#company.folders.inbound(), hasFolders: false });
    const partials = await this.#partials();
    if (partials === undefined) return;
    const writing = new Set(claims.namesIn(partials.path));
    for await (const page of listFolder({ disk, folder: partials, hasFolders: false, isShown: isOwnShown })) {
      for (const entry of page) writing.delete(entry.name);
      yield page.map((entry) => this.#ownEntry(partials, entry));
    }
    yield [...writing].flatMap((name) => {
      const attributes = claims.uploadOf(keyOf(partials, name))?.currentAttributes();
      return attributes === undefined ? [] : [{ name: aliasFor(name), attributes }];
    });
  }

  openWrite(name: string, flags: OpenWriteFlags): Promise<Upload> {
    return this.#traced(() => this.#openWrite(name, flags));
  }

  /** What there is no room for leaves a trace, whenever in an upload that is found. */
  async #traced<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const refusal = exchangeErrorOf(error);
      this.#context.intake.refused(this.#company, refusal);
      throw refusal;
    }
  }

  async #openWrite(name: string, flags: OpenWriteFlags): Promise<Upload> {
    const { intake, claims, peer } = this.#context;
    await intake.assertRoom(this.#company);
    const partials = await this.#company.folders.madePartials(peer.userId);
    const own = await this.#ownOf(name);
    const claim = await claims.claim(own.key);
    try {
      const resumed =
        flags.truncate && !flags.exclusive ? undefined : await this.#resumable(name, own, flags);
      const upload = this.#newUpload({ partials, name, own, flags, resumed, settled: claim.release });
      claim.attach(upload);
      killPoint("upload.opened");
      return upload;
    } catch (error) {
      claim.release();
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    const own = await this.#ownOf(name);
    const partials = await this.#partials();
    const claim = await this.#context.claims.claim(own.key);
    try {
      if (partials === undefined || (await this.#unfinished(own)) === undefined)
        throw await this.#whyNotOwn(name, own);
      await this.#context.disk.unlink(partials.child(own.name));
      killPoint("upload.removed");
      await partials.sync();
      this.#memory.forget(own.key);
    } finally {
      claim.release();
    }
  }

  /** Renames an own unfinished file. A final name makes it a file that has arrived. */
  async rename(from: string, to: string, options: { mayReplace: boolean }): Promise<void> {
    const partials = await this.#partials();
    const own = await this.#ownOf(from);
    const claim = await this.#context.claims.claim(own.key);
    try {
      const attributes = await this.#unfinished(own);
      if (partials === undefined || attributes === undefined) throw await this.#whyNotOwn(from, own);
      if (from === to) return;
      if (isUnfinishedName(to)) await this.#renameUnfinished(partials, own, { to, ...options });
      else await this.#renameToFinal(partials, own, { to, attributes, ...options });
    } finally {
      claim.release();
    }
  }

  async #renameToFinal(
    partials: PinnedFolder,
    own: Own,
    target: { to: string; attributes: ExchangeAttributes; mayReplace: boolean },
  ): Promise<void> {
    if (!target.mayReplace && (await this.#waiting(target.to)) !== undefined) {
      throw new ExchangeError(
        "alreadyExists",
        "A file of this name exists already and waits to be processed",
      );
    }
    const { disk } = this.#context;
    const file = await openRegularFile(partials.child(own.name), constants.O_RDWR, disk);
    if (file === undefined) throw noSuchFile();
    try {
      // The part of a broken upload has never been synced.
      await disk.fsync(file.fd);
    } finally {
      await disk.close(file.fd);
    }
    killPoint("upload.renameSynced");
    const closedAt = this.#context.closeClock.now();
    await this.#place({ partials, own, name: target.to, attributes: target.attributes, closedAt });
  }

  async #renameUnfinished(
    partials: PinnedFolder,
    own: Own,
    target: { to: string; mayReplace: boolean },
  ): Promise<void> {
    const { disk } = this.#context;
    const other = await this.#ownOf(target.to);
    if (other.key === own.key) return;
    const claim = await this.#context.claims.claim(other.key);
    try {
      if (target.mayReplace || (await this.#unfinished(other)) === undefined) {
        await disk.unlink(partials.child(other.name)).catch(unlessMissing);
      }
      await disk.link(partials.child(own.name), partials.child(other.name));
      killPoint("upload.renameLinked");
      await disk.unlink(partials.child(own.name));
      await partials.sync();
    } finally {
      claim.release();
    }
  }

  #newUpload(plan: {
    readonly partials: PinnedFolder;
    readonly name: string;
    readonly own: Own;
    readonly flags: OpenWriteFlags;
    readonly resumed: { readonly fd: number; readonly size: number } | undefined;
    readonly settled: () => void;
  }): Upload {
    const { deps, disk, intake } = this.#context;
    const { partials, name, own, flags, resumed, settled } = plan;
    this.#memory.forget(own.key);
    const file = new UploadFile({
      ...{ disk, space: intake.space, folder: partials, name: own.name, resumed },
      failed: (fault) => intake.refused(this.#company, fault),
    });
    file.begin();
    return new Upload({
      file,
      ahead: new AheadBytes(disk, partials),
      isAppend: flags.append,
      mayStartOver: resumed !== undefined,
      maxBytes: deps.limits.maxUploadBytes,
      openedSeconds: Math.floor(deps.clock.now() / 1000),
      settled,
      finish: (attributes) => {
        const closedAt = this.#context.closeClock.now();
        return this.#traced(() => this.#finish(file, { partials, own, name, attributes, closedAt }));
      },
    });
  }

  /** The part to continue, if there is one. Throws when the flags ask for what is not, or not to be, there. */
  async #resumable(
    name: string,
    own: Own,
    flags: OpenWriteFlags,
  ): Promise<{ fd: number; size: number } | undefined> {
    const partials = await this.#company.folders.madePartials(this.#context.peer.userId);
    if (flags.exclusive) return await this.#assertFree(name, own);
    const file = await this.#openPart(partials, own);
    if (file !== undefined) return file;
    if (flags.create && !flags.append) return undefined;
    const known = this.#completedAs(name, own) ?? (await this.#waiting(name));
    // The client believes that it continues what it has sent already: its tail would become a file.
    if (known !== undefined) throw denied(waitingText);
    if (!flags.create) throw noSuchFile();
    return undefined;
  }

  async #assertFree(name: string, own: Own): Promise<undefined> {
    const taken = (await this.#waiting(name)) ?? (await this.#unfinished(own));
    if (taken === undefined) return undefined;
    throw new ExchangeError("alreadyExists", "A file of this name exists already");
  }

  async #openPart(partials: PinnedFolder, own: Own): Promise<{ fd: number; size: number } | undefined> {
    const { disk } = this.#context;
    const path = partials.child(own.name);
    const file = await openRegularFile(path, constants.O_RDWR, disk).catch(unlessMissing);
    if (file === undefined) return undefined;
    if (!hasArrived(file.stats)) return { fd: file.fd, size: file.stats.size };
    // Nobody writes into them. The name is freed by whoever begins a file there, or by the sweep.
    await disk.close(file.fd);
    return undefined;
  }

  async #finish(file: UploadFile, target: Target): Promise<void> {
    const { partials, own, attributes } = target;
    await file.sync();
    killPoint("upload.durable");
    if (own.staysUnfinished) {
      await partials.sync();
      this.#memory.setTimes(own.key, attributes);
    } else {
      await this.#place(target);
    }
  }

  #arrivalOf({ name, attributes, closedAt }: Target): Omit<Arrival, "path"> {
    const { channel, userName } = this.#context.peer;
    const { size } = attributes;
    return { companyId: this.#company.id, name, channel, userName, size, receivedAt: closedAt };
  }

  async #place(target: Target): Promise<void> {
    const { partials, own, name, attributes } = target;
    const { deps, disk } = this.#context;
    await placeArrival(
      { inbox: deps.inbox, disk },
      {
        from: partials.child(own.name),
        inbound: await this.#company.folders.inbound(),
        arrival: this.#arrivalOf(target),
      },
    );
    const seen = this.#memory.withTimes(own.key, attributes);
    this.#memory.forget(own.key);
    this.#memory.complete(keyOf(partials, name), seen);
  }

  /** What this session has completed under the name. */
  #completedAs(name: string, own: Own): ExchangeAttributes | undefined {
    return own.name === name ? this.#memory.completed(own.key) : undefined;
  }

  async #waiting(name: string): Promise<ExchangeAttributes | undefined> {
    if (!isShownName(name)) return undefined;
    return await lookAt(this.#context.disk, await this.#company.folders.inbound(), name);
  }

  async #unfinished(own: Own): Promise<ExchangeAttributes | undefined> {
    const partials = await this.#partials();
    if (partials === undefined) return undefined;
    const found = await lookAtPart(this.#context.disk, partials, own.name);
    return found === undefined ? undefined : this.#memory.withTimes(own.key, found);
  }

  #partials(): Promise<PinnedFolder | undefined> {
    return this.#company.folders.partials(this.#context.peer.userId);
  }

  async #ownOf(name: string): Promise<Own> {
    const folder = await this.#partials();
    const aliased = nameOfAlias(name);
    const isAlias =
      aliased !== undefined &&
      folder !== undefined &&
      (this.#context.claims.isClaimed(keyOf(folder, aliased)) ||
        (await lookAtPart(this.#context.disk, folder, aliased)) !== undefined);
    const onDisk = isAlias ? aliased : name;
    return { name: onDisk, staysUnfinished: isUnfinishedName(name), key: keyOf(folder, onDisk) };
  }

  #ownEntry(partials: PinnedFolder, entry: ExchangeEntry): ExchangeEntry {
    const key = keyOf(partials, entry.name);
    const attributes = this.#context.claims.uploadOf(key)?.currentAttributes() ?? entry.attributes;
    return { name: aliasFor(entry.name), attributes: this.#memory.withTimes(key, attributes) };
  }

  async #whyNotOwn(name: string, own: Own): Promise<ExchangeError> {
    if ((await this.#waiting(name)) !== undefined) return denied(waitingText);
    if (this.#completedAs(name, own) === undefined) return noSuchFile();
    return new ExchangeError(
      "noSuchFile",
      "No such file any more: it was taken in; its receipt tells what became of it",
    );
  }
}

/** Own names that can be sent back by a client; dot-files are unfinished ones here. */
function isOwnShown(name: string): boolean {
  return isShownName(name.replace(/^\.+/, "_"));
}

function keyOf(partials: PinnedFolder | undefined, name: string): string {
  return `${partials?.path ?? ""}/${name}`;
}
