/**
 * Takes what has settled in one look: all of it together, so that the order of the pipeline holds over it.
 *
 *   settled ──copied to `.taking`──> whole? ──durable──> placed in `inbound/` or its `.again` ──> source removed
 *                                      └── no: the copy is thrown away, and the file stays with its writer
 *
 * Also what lies in the company's own `inbound/` is replaced by its copy: whoever left it there can write to it. What lies in
 * `.again` is a copy already, or an upload. A file over the limit is not copied, because it is refused by its size.
 */
import { join } from "node:path";
import { againFolderName } from "../../inbound/places/place-arrival.ts";
import { mkdir } from "../../lib/files/changes.ts";
import { pinChild, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { SettledFile } from "./candidates.ts";
import type { FolderDeps } from "./folder-deps.ts";
import type { Settled } from "./settled.ts";
import { SettledCopies, type SettledCopiesDeps } from "./settled-copies.ts";
import { SettledPlaces } from "./settled-places.ts";
import { isOfAgain, Outcomes, type TakenFiles } from "./taken-files.ts";

export type TakerDeps = SettledCopiesDeps & Pick<FolderDeps, "inbox">;

/** Takes settled files. Rejects when nothing can be said of a single one. */
export async function takeSettled(deps: TakerDeps, settled: Settled): Promise<TakenFiles> {
  const { files, folder, at } = settled;
  const outcomes = new Outcomes(deps, folder);
  const staysInPlace = (file: SettledFile) =>
    isOfAgain(file) || (folder.isInbox && file.look.size > deps.settings().maxFileBytes);
  for (const file of files.filter(staysInPlace)) {
    const path = join(at, file.name);
    if (!deps.inbox.isKnown(path)) outcomes.arrived(file, path);
  }
  const others = files.filter((file) => !staysInPlace(file));
  if (others.length > 0) await takeAsCopies(deps, { ...settled, files: others }, outcomes);
  // A folder is listed in no order; what an earlier run has answered is to be taken in that of the answers.
  outcomes.arrivals.sort((one, other) => (one.receivedAt ?? 0) - (other.receivedAt ?? 0));
  return outcomes;
}

async function takeAsCopies(deps: TakerDeps, settled: Settled, outcomes: Outcomes): Promise<void> {
  const { disk } = deps;
  const inbound = await pinFolder(await disk.realpath(settled.folder.inboundDirectory), [], disk);
  try {
    const copied = await new SettledCopies(deps, settled, outcomes).make(inbound);
    await mkdir(inbound.child(againFolderName), { recursive: true, mode: 0o750 });
    const again = await pinChild(inbound, againFolderName, disk);
    try {
      await new SettledPlaces(deps, settled, outcomes).give(copied, { inbound, again });
    } finally {
      await again.close();
    }
  } finally {
    await inbound.close();
  }
}
