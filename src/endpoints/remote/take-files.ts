/**
 * Takes settled files from a remote, portion by portion:
 *
 *   fetch ──> note as taken ──> place in inbound/ ──> ledger ──> remove or move there ──> forget
 *                                                            └─> leave there ──> note as seen
 *
 * What survives a crash: before the note a temporary file, which the next start removes. After it the file is fetched again
 * and compared: `fateOf` sees in `inbound/` and the ledger whether it got its place, so that it is not taken twice. A file
 * that a host sends again later has no note, and becomes a duplicate as everywhere.
 *
 * The same holds when another node takes the company over: its first round removes the downloads of the node that had it, and
 * the notes of that one are refused from then on. So a node that stood still places nothing when it goes on: the file that it
 * would link is gone.
 */
import { randomBytes } from "node:crypto";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { DeliveryFault } from "../../domain/outbound/delivery-fault.ts";
import { isSameRemoteVersion } from "../../domain/files/remote-version.ts";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { placeArrival } from "../../inbound/places/place-arrival.ts";
import type { RemoteFileRecord } from "../../inbound/remotes/remote-memory.ts";
import { mkdir, unlink } from "../../lib/files/changes.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type PinnedFolder, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { CallOutcome, FetchedFile, RemoteFile } from "./fetch-messages.ts";
import { type StopsKeptBack, timeOfName } from "./order-of-stops.ts";
import type { ListedRemote } from "./read-remote.ts";
import type { PolledRemote, RemoteDeps } from "./remote-deps.ts";

/** The dot-folder of `inbound/` in which downloads grow. */
const fetchingFolderName = ".fetching";

/** Faults that end the connection in the middle of a file. */
const linkFaults: ReadonlySet<DeliveryFault> = new Set(["timeout", "connectionLost", "protocol"]);

const filesAtOnce = 100;
const bytesAtOnce = 64 * 2 ** 20;

/** A fault of the whole remote: reported, and retried after a pause. */
export type Trouble = CallOutcome & { readonly kind: "failed" | "ownFault" };

export class RoundTrouble extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

export interface TakingRemote extends ListedRemote {
  readonly remote: PolledRemote;
  readonly log: Logger;
  /** Called when the files of a portion have been handed over. */
  readonly taken: (count: number) => void;
}

interface Fetched {
  readonly file: FetchedFile;
  readonly sha256: string;
  readonly path: string;
}

interface Portion {
  readonly staying: StopsKeptBack;
  readonly fetched: Fetched[];
  /** Files that the ledger has from an earlier round. */
  readonly entered: FetchedFile[];
  trouble: Trouble | undefined;
}

function inOrder(files: readonly RemoteFile[]): RemoteFile[] {
  const orders = new Map(files.map((file) => [file, timeOfName(file.name)]));
  const byName = (one: RemoteFile, other: RemoteFile) => (one.name < other.name ? -1 : 1);
  return [...files].sort((one, other) => {
    const [first = 0, second = 0] = [orders.get(one), orders.get(other)];
    return first === second ? byName(one, other) : first - second;
  });
}

function portionsOf(files: readonly RemoteFile[]): RemoteFile[][] {
  const portions: RemoteFile[][] = [];
  let bytes = 0;
  for (const file of inOrder(files)) {
    const last = portions.at(-1);
    const fits = last !== undefined && last.length < filesAtOnce && bytes + file.size <= bytesAtOnce;
    bytes = fits ? bytes + file.size : file.size;
    if (fits) last.push(file);
    else portions.push([file]);
  }
  return portions;
}

async function madeFetchingFolder(inboundDirectory: string): Promise<string> {
  const folder = join(inboundDirectory, fetchingFolderName);
  await mkdir(folder, { mode: 0o750 }).catch((error: unknown) => {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  });
  return folder;
}

/** Removes the downloads that a crash has left in `inbound/`. */
export async function sweepDownloads(runId: string, inboundDirectory: string): Promise<void> {
  const folder = join(inboundDirectory, fetchingFolderName);
  for (const name of (await readdir(folder).catch(unlessMissing)) ?? []) {
    if (!name.startsWith(`${runId}-`)) await unlink(join(folder, name)).catch(unlessMissing);
  }
}

async function removeAll(fetched: readonly Fetched[]): Promise<void> {
  for (const { path } of fetched) await unlink(path).catch(unlessMissing);
}

/** Also after a fault: files that have their places are reserved while the company is here, and no scan takes them. */
async function handOver(
  { inbox, isOurs }: RemoteDeps,
  { companyId }: PolledRemote,
  arrivals: readonly Arrival[],
): Promise<void> {
  if (isOurs(companyId)) return await inbox.arriveAll(arrivals);
  // Another node finds them in their places, and may have decided about them already.
  for (const { path, reservation } of arrivals) reservation?.holder?.release(path);
}

/** Throws when the files of the company are another node's. */
function checkOurs({ isOurs }: RemoteDeps, { companyId }: PolledRemote): void {
  if (!isOurs(companyId)) throw new Error("another node has the company");
}

export class FileTaker {
  readonly #deps: RemoteDeps;
  readonly #taking: TakingRemote;
  #isKeptReported = false;

  constructor(deps: RemoteDeps, taking: TakingRemote) {
    this.#deps = deps;
    this.#taking = taking;
  }

  /** Takes these files, but for those that wait for one that stays. Rejects with a `RoundTrouble`, or the signal's reason. */
  async take(files: readonly RemoteFile[], staying: StopsKeptBack, signal: AbortSignal): Promise<void> {
    for (const portion of portionsOf(files)) {
      const why = await this.#whyNoRoom();
      if (why !== undefined) throw new RoundTrouble({ kind: "ownFault", message: why });
      await this.#takePortion(portion, staying, signal);
    }
  }

  async #whyNoRoom(): Promise<string | undefined> {
    const { companyId: id, companyCode: code } = this.#taking.remote;
    const why = await this.#deps.intake.whyNoRoom({ id, code });
    return why === undefined ? undefined : `${why}; the rest is fetched later`;
  }

  async #takePortion(files: readonly RemoteFile[], staying: StopsKeptBack, signal: AbortSignal) {
    const portion = await this.#fetchAll(files, staying, signal);
    let placed: readonly Arrival[];
    try {
      placed = await this.#place(portion.fetched);
    } catch (error) {
      throw new RoundTrouble({ kind: "ownFault", message: messageOf(error) });
    } finally {
      // A file that has its place lies here no more.
      await removeAll(portion.fetched);
    }
    await this.#settle([...portion.entered, ...(await this.#onlyEntered(portion.fetched, placed))], signal);
    if (portion.trouble !== undefined) throw new RoundTrouble(portion.trouble);
  }

  async #fetchAll(
    files: readonly RemoteFile[],
    staying: StopsKeptBack,
    signal: AbortSignal,
  ): Promise<Portion> {
    const { memory } = this.#deps;
    const { key, candidates } = this.#taking;
    const records = await memory.find(
      key,
      files.map(({ name }) => name),
    );
    const portion: Portion = { staying, fetched: [], entered: [], trouble: undefined };
    try {
      for (const file of files) {
        const before = staying.fileBefore(file.name);
        if (before !== undefined) {
          this.#taking.reports.keptBack(file.name, before);
          continue;
        }
        await this.#fetchOne(file, {
          record: records.find(({ name }) => name === file.name),
          portion,
          signal,
        });
        if (portion.trouble !== undefined) break;
        candidates.drop(file.name);
      }
      return portion;
    } catch (error) {
      await removeAll(portion.fetched);
      throw error;
    }
  }

  async #fetchOne(
    file: RemoteFile,
    context: {
      readonly record: RemoteFileRecord | undefined;
      readonly portion: Portion;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const { portion, record, signal } = context;
    const { inboundDirectory } = this.#taking.remote;
    const taken = record?.state === "taken" && isSameRemoteVersion(record, file) ? record : undefined;
    const fate =
      taken === undefined
        ? "lost"
        : await this.#deps.memory.fateOf(this.#taking.key, taken, inboundDirectory);
    if (fate === "waiting") return;
    const path = await this.#newPath(portion);
    if (path === undefined) return;
    const outcome = await this.#fetch(file, path, signal);
    if (outcome.kind !== "fetched") return this.#notFetched(file, outcome, portion);
    this.#taking.reports.fetched(file.name);
    const { sha256, changedAt } = outcome;
    const fetched = { ...file, changedAt };
    if (fate === "entered" && taken?.sha256 === sha256) {
      await unlink(path);
      portion.entered.push(fetched);
    } else portion.fetched.push({ file: fetched, sha256, path });
  }

  /** Leaves nothing at `path` unless it is fetched, also when the thread ends in the middle. */
  async #fetch(file: RemoteFile, path: string, signal: AbortSignal): Promise<CallOutcome> {
    let outcome: CallOutcome | undefined;
    try {
      outcome = await this.#taking.client.run({ kind: "fetch", file, path }, signal);
      return outcome;
    } finally {
      if (outcome?.kind !== "fetched") await unlink(path).catch(unlessMissing);
    }
  }

  async #newPath(portion: Portion): Promise<string | undefined> {
    try {
      const why = await this.#whyNoRoom();
      if (why !== undefined) throw new Error(why);
      const folder = await madeFetchingFolder(this.#taking.remote.inboundDirectory);
      return join(folder, `${this.#deps.runId}-${randomBytes(8).toString("hex")}`);
    } catch (error) {
      portion.trouble = { kind: "ownFault", message: messageOf(error) };
      return undefined;
    }
  }

  #notFetched(file: RemoteFile, outcome: CallOutcome, portion: Portion): void {
    const { reports } = this.#taking;
    const nowMs = performance.now();
    portion.staying.add(file.name);
    if (outcome.kind === "changed") reports.failed(file, outcome.why, { nowMs, cause: "changed" });
    else if (outcome.kind === "refused") reports.failed(file, outcome.message, { nowMs, cause: "refused" });
    else if (outcome.kind === "failed" || outcome.kind === "ownFault") portion.trouble = outcome;
    // This one file may be the cause, and it would be the first of each round: when it fails again, it rests.
    if (outcome.kind === "failed" && linkFaults.has(outcome.fault))
      reports.failed(file, outcome.message, { nowMs, cause: "link" });
  }

  /** Places the files and hands them over all together, so that the order of the pipeline holds over them. */
  async #place(fetched: readonly Fetched[]): Promise<readonly Arrival[]> {
    if (fetched.length === 0) return [];
    await this.#deps.memory.noteTaken(
      this.#taking.key,
      fetched.map(({ file, sha256 }) => ({ ...file, sha256 })),
    );
    const arrivals: Arrival[] = [];
    const inbound = await pinFolder(await realpath(this.#taking.remote.inboundDirectory));
    try {
      for (const one of fetched) await this.#placeOne(one, inbound, arrivals);
    } finally {
      await inbound.close();
      await handOver(this.#deps, this.#taking.remote, arrivals);
    }
    this.#taking.taken(arrivals.length);
    this.#taking.log.info({ files: arrivals.length }, "files taken from a remote");
    return arrivals;
  }

  async #placeOne({ file, path }: Fetched, inbound: PinnedFolder, arrivals: Arrival[]): Promise<void> {
    const { companyId, name } = this.#taking.remote;
    const { inbox } = this.#deps;
    checkOurs(this.#deps, this.#taking.remote);
    const arrival = { companyId, name: file.name, channel: `remote:${name}`, size: file.size } as const;
    arrivals.push(await placeArrival({ inbox }, { from: path, inbound, arrival }));
  }

  /** The placed files that are in the ledger; at the end of the process some may not be, and the next start enters them. */
  async #onlyEntered(fetched: readonly Fetched[], placed: readonly Arrival[]): Promise<FetchedFile[]> {
    const paths = new Map(placed.map(({ name, path }) => [name, path]));
    const entered: FetchedFile[] = [];
    for (const { file } of fetched) {
      const path = paths.get(file.name);
      if (path === undefined) continue;
      const { companyId } = this.#taking.remote;
      if (await this.#deps.memory.isEntered(companyId, { name: file.name, path })) entered.push(file);
    }
    return entered;
  }

  /** Removes or moves files that the ledger has from the remote, or notes that they stay there. */
  async #settle(files: readonly FetchedFile[], signal: AbortSignal): Promise<void> {
    const { memory } = this.#deps;
    const { key, remote } = this.#taking;
    if (files.length === 0) return;
    if (remote.after === "leave") {
      await memory.noteSeen(
        key,
        files.map(({ name }) => name),
      );
      return;
    }
    const done: string[] = [];
    const kept: string[] = [];
    try {
      for (const file of files)
        (await this.#settleOne(file, signal)) ? done.push(file.name) : kept.push(file.name);
    } finally {
      await memory.noteSeen(key, kept);
      await memory.forget(key, done);
    }
  }

  /** False when the server refuses: then the file is not fetched again while it stays the same. */
  async #settleOne(file: FetchedFile, signal: AbortSignal): Promise<boolean> {
    const { client, remote, log } = this.#taking;
    checkOurs(this.#deps, this.#taking.remote);
    const kind = remote.after === "move" ? "move" : "remove";
    const outcome = await client.run({ kind, file }, signal);
    if (outcome.kind === "failed" || outcome.kind === "ownFault") throw new RoundTrouble(outcome);
    if (outcome.kind !== "refused") {
      this.#isKeptReported = false;
      return true;
    }
    if (!this.#isKeptReported) {
      log.warn(
        { file: file.name, reason: outcome.message },
        `the server refuses to ${kind} files that were taken; they stay there and are not fetched again`,
      );
    }
    this.#isKeptReported = true;
    return false;
  }
}
