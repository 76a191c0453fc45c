/**
 * Unfinished uploads where several nodes share the tree: the name of the folder says who may write into a part.
 *
 *   .partial/<user>/x                       at rest: nobody has it open
 *   .partial/<user>/\\nodes/<incarnation>/x  that process is writing it, and no other ever opens, links or renames it
 *
 *   at rest ──rename──> with a node ──link──> arrived
 *      ^                    │  └──rename── link to the client broke, or the name says "unfinished"
 *      └── copy ── the node is dead
 *
 * A rename is one step on the server of the tree: of two nodes that continue a part at the same moment one has it, and the
 * other finds it there. A fresh upload asks nobody: its bytes are its own. A node that looks dead may be frozen, and write and
 * link when it wakes up; so its part is taken by its name, and its bytes are copied. What it writes then goes to a file without
 * a name, and its link finds none (where a client of NFS still knows the file by its number, it links what it wrote itself).
 *
 * Survives a crash: the part, with the dead node; whoever asks for it next has it copied, and the sweep removes it when
 * nobody does.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { entriesOf } from "../../lib/files/entries-of.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { copyFile, rename } from "../../lib/files/changes.ts";
import type { DiskCalls } from "../../lib/files/durable-file.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { denied, type ExchangeAttributes } from "../exchange-session.ts";
import type { SessionCompany, SessionContext } from "../exchange-deps.ts";
import { nodesFolderName } from "../folders/company-folders.ts";
import { attributesOf, hasArrived } from "../folders/listing.ts";
import { claimedText } from "./upload-claims.ts";

/** Where an upload of this process writes, and where its part rests. The same folder where it has the tree alone. */
export interface PartPlace {
  readonly partials: PinnedFolder;
  readonly place: PinnedFolder;
  readonly own: { readonly name: string };
}

interface PartOfNode {
  readonly incarnation: string;
  readonly path: string;
  readonly attributes: ExchangeAttributes;
}

type NodeContext = Pick<SessionContext, "deps" | "disk" | "peer"> & { readonly company: SessionCompany };

/** Where this process writes what a user of the session uploads. */
export async function madePlace({ company, deps: { node }, peer }: NodeContext): Promise<PinnedFolder> {
  return node === undefined
    ? await company.folders.madePartials(peer.userId)
    : await company.folders.madeOfNode(peer.userId, node.incarnation);
}

async function partIn(disk: Pick<DiskCalls, "lstat">, path: string): Promise<ExchangeAttributes | undefined> {
  const stats = await disk.lstat(path).catch(unlessMissing);
  return stats?.isFile() === true && !hasArrived(stats) ? attributesOf(stats) : undefined;
}

/** The part of that name that another process is writing, or was when it died. */
export async function findWithNode(
  { deps: { node }, disk }: NodeContext,
  partials: PinnedFolder,
  name: string,
): Promise<PartOfNode | undefined> {
  if (node === undefined) return undefined;
  const nodes = partials.child(nodesFolderName);
  for (const { name: incarnation } of await entriesOf(nodes)) {
    if (incarnation === node.incarnation) continue;
    const path = join(nodes, incarnation, name);
    const attributes = await partIn(disk, path);
    if (attributes !== undefined) return { incarnation, path, attributes };
  }
  return undefined;
}

/** Names of parts of other processes. */
export async function namesWithNodes(
  { deps: { node } }: NodeContext,
  partials: PinnedFolder,
): Promise<readonly string[]> {
  if (node === undefined) return [];
  const nodes = partials.child(nodesFolderName);
  const names: string[] = [];
  for (const { name: incarnation } of await entriesOf(nodes)) {
    if (incarnation === node.incarnation) continue;
    names.push(...(await entriesOf(join(nodes, incarnation))).map(({ name }) => name));
  }
  return names;
}

/** Takes the part of a node that is dead; false when another has it now. */
async function adopt(
  context: NodeContext,
  partials: PinnedFolder,
  { path, name }: { readonly path: string; readonly name: string },
): Promise<boolean> {
  const { disk } = context;
  const place = await madePlace(context);
  const taken = place.child(name);
  const isTaken = await rename(path, taken).then(() => true, unlessMissing);
  if (isTaken !== true) return false;
  if ((await partIn(disk, taken)) !== undefined) {
    const copy = place.child(`\\${randomBytes(6).toString("hex")}`);
    await copyFile(taken, copy);
    await rename(copy, partials.child(name));
  }
  await disk.unlink(taken);
  return true;
}

/**
 * What there is of the upload is at rest after this, or this process has it. Rejects with `permissionDenied` while another
 * node is writing it. Says whether a part was taken from a node that is dead.
 */
export async function bringHome(
  context: NodeContext,
  partials: PinnedFolder,
  name: string,
): Promise<boolean> {
  const { node } = context.deps;
  let hasCome = false;
  for (;;) {
    const other = await findWithNode(context, partials, name);
    if (node === undefined || other === undefined) return hasCome;
    if (await node.isLive(other.incarnation)) throw denied(claimedText);
    hasCome = (await adopt(context, partials, { path: other.path, name })) || hasCome;
  }
}

/** Takes the part that is at rest, if there is one. Rejects with `permissionDenied` when another node was quicker. */
export async function takePart(context: NodeContext, { partials, place, own }: PartPlace): Promise<void> {
  if (place === partials) return;
  do {
    const isTaken = await rename(partials.child(own.name), place.child(own.name)).then(
      () => true,
      unlessMissing,
    );
    if (isTaken === true) return;
  } while (await bringHome(context, partials, own.name));
}

/** This process writes it no longer: the part is at rest. */
export async function layDown({ partials, place, own }: PartPlace): Promise<void> {
  if (place === partials) return;
  // Another node has taken it when this one was silent for too long: then the part is not this one's.
  await rename(place.child(own.name), partials.child(own.name)).catch(unlessMissing);
}

/** A part at rest is not continued: a new file takes its place. */
export async function dropPart(disk: DiskCalls, { partials, place, own }: PartPlace): Promise<void> {
  if (place !== partials) await disk.unlink(partials.child(own.name)).catch(unlessMissing);
}
