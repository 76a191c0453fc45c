/**
 * How an unfinished file becomes one that has arrived: by the close of its upload, or by a rename. The close, step by step:
 *
 *   sync of the bytes → final name (`placeArrival`: receipt of an earlier file away, link, sync of the folder)
 *   → to the pipeline, or into the ledger for the node that has the company → the close is answered
 *
 * One whose name says "unfinished" keeps it: sync of the bytes, sync of its folder, answer.
 */
import { constants } from "node:fs";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { placeArrival } from "../../inbound/places/place-arrival.ts";
import { rename } from "../../lib/files/changes.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { openRegularFile, type PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { type ExchangeAttributes, ExchangeError, noSuchFile } from "../exchange-session.ts";
import { bringHome, layDown, madePlace, takePart } from "./node-parts.ts";
import { type InboundNames, keyOf, type OwnFile } from "./inbound-names.ts";
import { traced } from "./intake.ts";

/** An own unfinished file that is to have this name. */
export interface Destination {
  readonly names: InboundNames;
  /** Where its part rests. */
  readonly partials: PinnedFolder;
  /** Where it is written: the same folder, unless several nodes share the tree. */
  readonly place: PinnedFolder;
  readonly own: OwnFile;
  readonly name: string;
  /** When its upload began; milliseconds UTC, undefined when that was in an earlier run. */
  readonly beganAt: number | undefined;
}

/** Makes the upload durable, and a file unless its name says "unfinished". */
export async function completeUpload(
  destination: Destination,
  content: { sync(): Promise<void> },
  attributes: ExchangeAttributes,
): Promise<void> {
  const { partials, own } = destination;
  const { context } = destination.names;
  const closedAt = context.closeClock.now();
  await traced(context.deps.intake, context.company, async () => {
    await content.sync();
    if (!own.staysUnfinished) return await becomeFile(destination, attributes, closedAt);
    await layDown(destination);
    await partials.sync();
    context.memory.setTimes(own.key, attributes);
    noteBegin(destination, own.key);
  });
}

/** The upload is closed, and its file lies under a name that says "unfinished". */
function noteBegin({ names, beganAt }: Destination, key: string): void {
  const { uploadBegins } = names.context;
  uploadBegins.delete(key);
  if (beganAt !== undefined) uploadBegins.set(key, beganAt);
}

/** Gives an unfinished file whose bytes are durable its final name, and hands it to the pipeline. */
async function becomeFile(
  destination: Destination,
  attributes: ExchangeAttributes,
  receivedAt: number,
): Promise<void> {
  const { names, partials, place, own, name, beganAt } = destination;
  const { company, deps, disk, memory, peer } = names.context;
  const { channel, userName } = peer;
  const { size } = attributes;
  deps.intake.assertInTouch(company);
  const arrival = await placeArrival(
    { inbox: deps.inbox, disk },
    {
      from: place.child(own.name),
      inbound: await company.folders.inbound(),
      arrival: { companyId: company.id, name, channel, userName, size, receivedAt, beganAt },
    },
  );
  if (deps.inbox.isToEnter(arrival)) await deps.inbox.enterElsewhere([arrival]);
  else deps.arrivals.arrive(arrival, memory.isPushing);
  memory.arrived(performance.now());
  memory.becameFile(own.key, keyOf(partials, name), attributes);
}

/** Renames an own unfinished file. A name that does not say "unfinished" makes it a file that has arrived. */
export async function renameUnfinished(
  names: InboundNames,
  from: string,
  to: { readonly name: string; readonly mayReplace: boolean },
): Promise<void> {
  const partials = await names.partials();
  const own = await names.own(from);
  const claim = await names.context.claims.claim(own.key);
  try {
    if (partials !== undefined) await bringHome(names.context, partials, own.name);
    const attributes = await names.unfinished(own);
    if (partials === undefined || attributes === undefined) throw await names.whyNotOwn(from, own);
    if (from === to.name) return;
    const beganAt = names.context.uploadBegins.get(own.key);
    const place = await madePlace(names.context);
    const destination = { names, partials, place, own, name: to.name, beganAt };
    if (isUnfinishedName(to.name)) await toUnfinishedName(destination, to.mayReplace);
    else await toFinalName(destination, attributes, to.mayReplace);
  } finally {
    claim.release();
  }
}

async function toFinalName(
  destination: Destination,
  attributes: ExchangeAttributes,
  mayReplace: boolean,
): Promise<void> {
  const { names, own, name } = destination;
  if (!mayReplace && (await names.waiting(name)) !== undefined) {
    throw new ExchangeError("alreadyExists", "A file of this name exists already and waits to be processed");
  }
  const { closeClock, uploadBegins } = names.context;
  await takePart(names.context, destination);
  try {
    await syncPart(destination);
    await becomeFile(destination, attributes, closeClock.now());
  } finally {
    await layDown(destination);
  }
  uploadBegins.delete(own.key);
}

/** The part of an interrupted upload has never been synced. */
async function syncPart({ names, place, own }: Destination): Promise<void> {
  const { disk } = names.context;
  const file = await openRegularFile(place.child(own.name), constants.O_RDWR, disk);
  if (file === undefined) throw noSuchFile();
  try {
    await disk.fsync(file.fd);
  } finally {
    await disk.close(file.fd);
  }
}

async function toUnfinishedName(destination: Destination, mayReplace: boolean): Promise<void> {
  const { names, partials, place, own, name } = destination;
  const { claims, disk, uploadBegins } = names.context;
  const other = await names.own(name);
  if (other.key === own.key) return;
  const claim = await claims.claim(other.key);
  try {
    await bringHome(names.context, partials, other.name);
    const mayTake = mayReplace || (await names.unfinished(other)) === undefined;
    if (place !== partials) await renameTaken(destination, other, mayTake);
    else {
      if (mayTake) await disk.unlink(partials.child(other.name)).catch(unlessMissing);
      await disk.link(partials.child(own.name), partials.child(other.name));
      await disk.unlink(partials.child(own.name));
    }
    await partials.sync();
    uploadBegins.delete(own.key);
    noteBegin(destination, other.key);
  } finally {
    claim.release();
  }
}

/** In one step: a part with two names would count as one that has arrived, on whichever node looks at it then. */
async function renameTaken(destination: Destination, other: OwnFile, mayTake: boolean): Promise<void> {
  const { names, partials, place, own } = destination;
  if (!mayTake) throw new ExchangeError("alreadyExists", "A file of this name exists already");
  await takePart(names.context, destination);
  await rename(place.child(own.name), partials.child(other.name));
}
