/** Hands over what has settled in one look: all of it together, so that the order of the pipeline holds over it. */
import { basename, join } from "node:path";
import type { Arrival } from "../../inbound/inbox.ts";
import { againFolderName, nameOfAgainFile } from "../../inbound/place-arrival.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { pinFolder } from "../../lib/open-regular-file.ts";
import { mapAtOnce } from "../../lib/at-once.ts";
import type { SettledFile } from "./candidates.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import { makeDurable } from "./make-durable.ts";
import { takeIn } from "./take-in.ts";

export interface Settled {
  readonly folder: WatchedFolder;
  /** The real path of the folder. */
  readonly at: string;
  readonly files: readonly SettledFile[];
  readonly isStopped: () => boolean;
}

export type Failure =
  /** To be looked at again from the beginning. */
  | { readonly kind: "changed"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly error: unknown };

export interface TakenFiles {
  readonly arrivals: readonly Arrival[];
  readonly failures: readonly Failure[];
}

type TakeDeps = Pick<FolderDeps, "inbox" | "disk" | "log" | "runId">;

const movesAtOnce = 32;

/** Makes settled files ready to be handed over. In `inbound/` they stay in place; from other folders they are moved. */
export async function takeSettled(deps: TakeDeps, settled: Settled): Promise<TakenFiles> {
  return settled.folder.isInbox ? await takeInPlace(deps, settled) : await moveIn(deps, settled);
}

async function takeInPlace(deps: TakeDeps, { folder, at, files }: Settled): Promise<TakenFiles> {
  const arrivals: Arrival[] = [];
  const { durable, failures } = await onlyDurable(deps, at, files);
  for (const { name, look, isRecovered } of durable) {
    // An upload may have been placed under this name while it was looked at.
    if (deps.inbox.isKnown(join(at, name))) continue;
    arrivals.push({
      companyId: folder.companyId,
      name: name.startsWith(`${againFolderName}/`) ? nameOfAgainFile(basename(name)) : name,
      path: join(at, name),
      channel: isRecovered ? "recovered" : "folder",
      size: look.size,
      ...(isRecovered ? { receivedAt: look.ctimeMs } : {}),
    });
  }
  // A folder is listed in no order; what an earlier run has answered is to be taken in that of the answers.
  arrivals.sort((one, other) => (one.receivedAt ?? 0) - (other.receivedAt ?? 0));
  return { arrivals, failures };
}

async function onlyDurable(
  deps: TakeDeps,
  at: string,
  files: readonly SettledFile[],
): Promise<{ durable: SettledFile[]; failures: Failure[] }> {
  const durable: SettledFile[] = [];
  const failures: Failure[] = [];
  const outcomes = await makeDurable(deps, at, files);
  killPoint("folder.durable");
  for (const [index, file] of files.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome.kind === "durable") durable.push(file);
    else if (outcome.kind === "changed") failures.push({ kind: "changed", name: file.name });
    else failures.push({ ...outcome, name: file.name });
  }
  return { durable, failures };
}

async function moveIn(deps: TakeDeps, settled: Settled): Promise<TakenFiles> {
  const { folder, at } = settled;
  const { disk } = deps;
  const inbound = await pinFolder(await disk.realpath(folder.inboundDirectory), [], disk);
  try {
    const mayLink = (await disk.fstat(inbound.fd)).dev === (await disk.stat(at)).dev;
    // A copy is synced by itself.
    const ready = mayLink
      ? await onlyDurable(deps, at, settled.files)
      : { durable: settled.files, failures: [] };
    const failures: Failure[] = [...ready.failures];
    const arrivals: Arrival[] = [];
    await mapAtOnce(ready.durable, movesAtOnce, async ({ name, look }) => {
      if (settled.isStopped()) return;
      const arrival = { companyId: folder.companyId, name, channel: "folder", size: look.size } as const;
      const outcome = await takeIn(deps, { source: join(at, name), look, inbound, arrival, mayLink });
      killPoint("folder.sourceRemoved");
      if (outcome.kind === "taken") arrivals.push(outcome.arrival);
      else failures.push({ ...outcome, name });
    });
    return { arrivals, failures };
  } finally {
    await inbound.close();
  }
}
