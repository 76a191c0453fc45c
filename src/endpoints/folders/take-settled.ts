/**
 * Takes the files that have settled together all at once, so that the order of the pipeline holds over them.
 *
 *   settled ──copied to `.taking`──> whole? ──durable──> placed in `inbound/` or its `.again` ──> source removed
 *                                      └── no: the copy is removed, and the file stays with its writer
 *
 * A copy replaces also a file in the company's own `inbound/`: whoever left it there can write to it. A file in `.again` is
 * a copy already, or an upload, or one that could not have its name back. A file over the limit is not copied, because its size
 * refuses it. A copy tells by its mtime when the file came, also to the next start, should this one die.
 *
 * Another node may enter a file of the company's own `inbound/` while its copy is made; the pipeline knows the path then, and
 * the file stays for that entry. Once the path is reserved, the pipeline leaves such an entry to the file that is taken.
 */
import { join } from "node:path";
import { stopAndTimeOf } from "../../domain/files/stop-file-name.ts";
import type { Arrival } from "../../inbound/places/inbox.ts";
import {
  againFolderName,
  asideFolderName,
  isInAgain,
  newAgainName,
} from "../../inbound/places/place-arrival.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { mkdir } from "../../lib/files/changes.ts";
import { isStillThere } from "../../lib/files/is-still-there.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { type PinnedFolder, pinChild, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { SettledFile } from "./candidates.ts";
import type { PlaceOutcome } from "./place-files.ts";
import { type Copied, makeCopies, type TakerDeps, type Taking } from "./settled-copies.ts";
import { errorOf, filesAtOnce, placeIn } from "./take-thread.ts";
import { isOfAgain, Outcomes, type Settled, type Taken } from "./taken-files.ts";
import { portionsOf } from "../../lib/portions.ts";

interface PlaceFolders {
  readonly inbound: PinnedFolder;
  readonly again: PinnedFolder;
}

/** The two paths of which a file gets one. */
interface Paths {
  readonly name: string;
  readonly final: string;
  readonly again: string;
}

/** Gives settled files, whose copies are durable, their places in `inbound/` or its `.again`, and removes their sources. */
async function givePlaces(taking: Taking, copied: readonly Copied[], to: PlaceFolders): Promise<void> {
  for (const portion of portionsOf(copied, filesAtOnce)) {
    // What lies aside comes before later files of its stop.
    if (taking.outcomes.isLeftAside) await leave(taking, portion);
    else await givePortion(taking, portion, to);
  }
}

async function givePortion(taking: Taking, copied: readonly Copied[], to: PlaceFolders): Promise<void> {
  const { folder } = taking.settled;
  const isKnown = ({ file }: Copied) =>
    folder.isInbox && taking.deps.inbox.isKnown(join(to.inbound.path, file.name));
  const { known = [], portion = [] } = Object.groupBy(copied, (one) => (isKnown(one) ? "known" : "portion"));
  const forMs = taking.deps.mayTakeForMs(folder.companyId);
  const until = forMs === undefined ? undefined : monotonicMs() + forMs;
  const files = portion.map(({ file: { name, state }, from, mark }) => {
    return { name, state, from, againName: newAgainName(name, mark), stop: stopAndTimeOf(name)?.stop };
  });
  const paths = files.map(({ name, againName }) => {
    return { name, final: join(to.inbound.path, name), again: join(to.again.path, againName) };
  });
  // In the same turn of the event loop: what becomes known now is left to these files.
  const reserved = reserve(taking, paths);
  try {
    await leave(taking, known);
    const { at: directory } = taking.settled;
    const [inbound, again] = [to.inbound.child("."), to.again.child(".")];
    const aside = folder.isInbox ? to.inbound.child(asideFolderName) : undefined;
    const outcomes = await placeIn(taking.deps.thread, { directory, inbound, again, aside, until, files });
    for (const [index, { file }] of portion.entries()) {
      const path = note(taking, file, outcomes[index], paths[index]);
      if (path !== undefined) reserved.delete(path);
    }
  } finally {
    for (const path of reserved) taking.deps.inbox.release(path);
  }
}

/** The copies of files that have to settle again; one that another node has entered meanwhile is not looked at then. */
async function leave({ deps, outcomes }: Taking, copied: readonly Copied[]): Promise<void> {
  for (const { file, from } of copied) {
    outcomes.changed.push(file.name);
    await deps.disk.unlink(from).catch(unlessMissing);
  }
}

function reserve(taking: Taking, paths: readonly Paths[]): Set<string> {
  const { companyId } = taking.settled.folder;
  const reserved = new Set<string>();
  for (const { name, final, again } of paths) {
    for (const path of [final, again]) {
      taking.deps.inbox.reserve(path, { companyId, name });
      reserved.add(path);
    }
  }
  return reserved;
}

/** Notes the outcome; returns the path that the file has got. */
function note(
  taking: Taking,
  file: SettledFile,
  outcome: PlaceOutcome | undefined,
  paths: Paths | undefined,
): string | undefined {
  const outcomes = taking.outcomes;
  if (outcome === undefined || paths === undefined || outcome.kind === "changed")
    outcomes.changed.push(file.name);
  else if (outcome.kind === "again") outcomes.leftInAgain(file);
  else if (outcome.kind === "late") outcomes.leftAside(file, outcome.fault && errorOf(outcome.fault));
  else if (outcome.kind === "behind") outcomes.behind.push(file);
  else if (outcome.kind === "failed") outcomes.failed(file, errorOf(outcome.fault));
  else {
    const isAgain = outcome.kind === "displaced" || outcome.isAgain;
    const path = isAgain ? paths.again : paths.final;
    outcomes.arrived(file, path);
    (outcome.kind === "displaced" ? outcomes.changed : outcomes.removed).push(file.name);
    return path;
  }
  return undefined;
}

/**
 * Under its reservation the pipeline leaves an entry of the file to this one. Since the last look another node may have entered
 * the file, and it may be decided and filed away by now.
 */
async function takeInPlace({ deps, settled, outcomes }: Taking, file: SettledFile): Promise<void> {
  const { companyId } = settled.folder;
  const path = join(settled.at, file.name);
  deps.inbox.reserve(path, { companyId, name: file.name });
  const isSole = deps.mayTakeForMs(companyId) === undefined;
  if (isSole || (await isStillThere(path))) outcomes.arrived(file, path);
  else deps.inbox.release(path);
}

/** Takes settled files. Rejects when no single one of them is at fault. */
export async function takeSettled(deps: TakerDeps, settled: Settled): Promise<Taken> {
  const { files, folder, at } = settled;
  const outcomes = new Outcomes(deps, folder);
  const staysInPlace = (file: SettledFile) =>
    isOfAgain(file) || (folder.isInbox && file.state.size > deps.settings().maxFileBytes);
  for (const file of files.filter(staysInPlace)) {
    if (deps.inbox.isKnown(join(at, file.name))) continue;
    await takeInPlace({ deps, settled, outcomes }, file);
  }
  const others = files.filter((file) => !staysInPlace(file));
  try {
    if (others.length > 0) await takeAsCopies({ deps, settled: { ...settled, files: others }, outcomes });
  } catch (error) {
    // Nobody hands them over: the next scan finds them in their places.
    for (const { path } of outcomes.arrivals) deps.inbox.release(path);
    throw error;
  }
  const { removed, changed, behind, isLeftInAgain, isLeftAside } = outcomes;
  return { arrivals: inOrder(outcomes.arrivals), removed, changed, behind, isLeftInAgain, isLeftAside };
}

/** A folder is listed in no order; uploads that an earlier run has answered go in the order of the answers. */
function inOrder(arrivals: readonly Arrival[]): Arrival[] {
  // In `.again` lie those whose name was taken.
  const isLater = ({ path }: Arrival) => Number(isInAgain(path));
  return arrivals.toSorted(
    (one, other) => (one.receivedAt ?? 0) - (other.receivedAt ?? 0) || isLater(one) - isLater(other),
  );
}

async function takeAsCopies(taking: Taking): Promise<void> {
  const { deps, settled } = taking;
  const { disk } = deps;
  const inbound = await pinFolder(await disk.realpath(settled.folder.inboundDirectory), [], disk);
  try {
    const copied = await makeCopies(taking, inbound);
    await mkdir(inbound.child(againFolderName), { recursive: true, mode: 0o750 });
    const again = await pinChild(inbound, againFolderName, disk);
    try {
      await givePlaces(taking, copied, { inbound, again });
    } finally {
      await again.close();
    }
  } finally {
    await inbound.close();
  }
}
