/**
 * What a name in `inbound/` stands for, as one session sees it: a file of the company that waits, an own unfinished upload,
 * which lies in `inbound/.partial/<userId>/`, or a file that the session has completed and the pipeline has taken.
 *
 *   client name         on disk                          becomes a file
 *   x.xml               .partial/<userId>/x.xml          at the close
 *   .x.xml.partial      the same, after a broken link    when continued as x.xml, or renamed
 *   x.xml.part, .x      .partial/<userId>/<same name>    when renamed to a name that does not say "unfinished"
 *
 * Where several nodes share the tree, what one of them is writing lies below that folder: node-parts.ts.
 */
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { isShownName } from "../client-path.ts";
import { denied, type ExchangeAttributes, ExchangeError, noSuchFile } from "../exchange-session.ts";
import type { SessionCompany, SessionContext } from "../exchange-deps.ts";
import { findWithNode } from "./node-parts.ts";
import { lookAt, lookAtPart } from "../folders/listing.ts";
import type { UploadMemory } from "./upload-memory.ts";

/** What the parts of one session's `inbound/` share. */
export interface InboundContext extends SessionContext {
  readonly company: SessionCompany;
  readonly memory: UploadMemory;
}

/** An own unfinished file, whether it is there or not. */
export interface OwnFile {
  /** Its name in the user's folder. */
  readonly name: string;
  /** The client used a name that says "unfinished": a close leaves it so. */
  readonly staysUnfinished: boolean;
  readonly key: string;
}

/** `.x.xml.partial`: how the interrupted upload of `x.xml` is listed. */
export function aliasFor(name: string): string {
  return isUnfinishedName(name) ? name : `.${name}.partial`;
}

/** The name of the upload that is listed under the alias; undefined when it is no alias. */
function nameOfAlias(name: string): string | undefined {
  const inner = /^\.(.+)\.partial$/.exec(name)?.[1];
  return inner === undefined || isUnfinishedName(inner) ? undefined : inner;
}

export const waitingText = "This file waits to be processed and cannot be changed or deleted";

/** By which claims and memory know an unfinished file. */
export function keyOf(partials: PinnedFolder | undefined, name: string): string {
  return `${partials?.path ?? ""}/${name}`;
}

export class InboundNames {
  readonly context: InboundContext;

  constructor(context: InboundContext) {
    this.context = context;
  }

  /** The folder of the user's unfinished files; undefined when there is none. */
  partials(): Promise<PinnedFolder | undefined> {
    const { company, peer } = this.context;
    return company.folders.partials(peer.userId);
  }

  async own(name: string): Promise<OwnFile> {
    const { claims, disk } = this.context;
    const folder = await this.partials();
    const aliased = nameOfAlias(name);
    const isAlias =
      aliased !== undefined &&
      folder !== undefined &&
      (claims.isClaimed(keyOf(folder, aliased)) ||
        (await lookAtPart(disk, folder, aliased)) !== undefined ||
        (await findWithNode(this.context, folder, aliased)) !== undefined);
    const onDisk = isAlias ? aliased : name;
    return { name: onDisk, staysUnfinished: isUnfinishedName(name), key: keyOf(folder, onDisk) };
  }

  /** What the client sees under the name. */
  async attributes(name: string): Promise<ExchangeAttributes | undefined> {
    const own = await this.own(name);
    const known = this.context.claims.uploadOf(own.key)?.currentAttributes() ?? this.completed(name, own);
    return known ?? (await this.waiting(name)) ?? (await this.unfinished(own));
  }

  /** What this session has completed under the name. */
  completed(name: string, own: OwnFile): ExchangeAttributes | undefined {
    return own.name === name ? this.context.memory.completed(own.key) : undefined;
  }

  async waiting(name: string): Promise<ExchangeAttributes | undefined> {
    const { company, disk } = this.context;
    return isShownName(name) ? await lookAt(disk, await company.folders.inbound(), name) : undefined;
  }

  async unfinished(own: OwnFile): Promise<ExchangeAttributes | undefined> {
    const partials = await this.partials();
    if (partials === undefined) return undefined;
    const found =
      (await lookAtPart(this.context.disk, partials, own.name)) ??
      (await findWithNode(this.context, partials, own.name))?.attributes;
    return found === undefined ? undefined : this.context.memory.withTimes(own.key, found);
  }

  /** Why there is no own unfinished file of the name. */
  async whyNotOwn(name: string, own: OwnFile): Promise<ExchangeError> {
    if ((await this.waiting(name)) !== undefined) return denied(waitingText);
    if (this.completed(name, own) === undefined) return noSuchFile();
    return new ExchangeError(
      "noSuchFile",
      "No such file any more: it was taken in; its receipt tells what became of it",
    );
  }
}
