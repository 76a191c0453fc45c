/** A folder endpoint on real folders, with an inbox that records what it is given. For tests. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Arrival } from "../../../inbound/places/inbox.ts";
import { createLogger } from "../../../lib/logs/log.ts";
import { systemTakeCalls, type TakeCalls } from "../take-calls.ts";
import { answerOf } from "../take-request.ts";
import type { TakeRequest } from "../take-thread.ts";
import { type FolderDisk, systemFolderDisk, type WatchedFolder } from "../folder-deps.ts";
import { FolderEndpoint, type FolderEndpointDeps } from "../folder-endpoint.ts";
import { type WatchFolder, watchFolder } from "../folder-watch.ts";
import { dayMs } from "../../../lib/durations.ts";

/** A watch that never reports anything. */
export const silentWatch: WatchFolder = () => ({ close: async () => undefined });

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly file?: string;
  readonly folder?: string;
  readonly systemCode?: string;
  readonly kind?: string;
  readonly remedy?: string;
  readonly reason?: string;
}

export class FolderRig implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), "dropgate-folders-"));
  readonly inbound = join(this.root, "companies", "ACME", "inbound");
  readonly share = join(this.root, "share");
  readonly settings = {
    settleMs: 20,
    scanMs: 3_600_000,
    unfinishedReportAfterMs: dayMs,
    incompleteGraceMs: 600_000,
    maxFileBytes: 50 * 2 ** 20,
    giveUpAfterMs: 3_600_000,
  };
  /** The calls with which files are copied and placed, in this thread. */
  readonly calls: TakeCalls = { ...systemTakeCalls };
  /** Before each request to the thread that copies and places. */
  beforeTake: (request: TakeRequest) => Promise<void> = async () => undefined;
  /** Names of files that keep back later ones of their stop in the pipeline. */
  readonly keptBack = new Set<string>();
  /** Why nothing is taken at the moment. */
  whyNoRoom: () => string | undefined = () => undefined;
  /** Whether the parser finds a file cut off. */
  isIncomplete: (text: string) => boolean = () => false;
  /** Of the file system that several nodes share. */
  changeClock: FolderEndpointDeps["changeClock"];
  againEveryMs: FolderEndpointDeps["againEveryMs"];
  /** How long the files are this node's; for ever unless given. */
  mayTakeForMs: FolderEndpointDeps["mayTakeForMs"];
  /** Whether the endpoint has all companies for ever. */
  readonly isSole: boolean = true;
  readonly known = new Set<string>();
  /** What `arriveAll` was called with. */
  readonly handedOver: Arrival[][] = [];
  /** How many holds there were at each of these calls, and how many there are. */
  readonly heldDuring: number[] = [];
  holds = 0;
  readonly lines: LogLine[] = [];
  readonly disk: FolderDisk = { ...systemFolderDisk };
  folders: WatchedFolder[];
  nowMs = 0;
  scans = 0;
  watch: WatchFolder = watchFolder;
  #endpoint: FolderEndpoint | undefined;
  readonly #waiting = new Set<() => void>();

  constructor() {
    mkdirSync(join(this.inbound, ".again"), { recursive: true });
    mkdirSync(this.share);
    this.folders = [this.folder(this.inbound, true)];
    this.disk.entries = (path) => {
      this.scans += 1;
      return systemFolderDisk.entries(path);
    };
  }

  get arrivals(): Arrival[] {
    return this.handedOver.flat();
  }

  get names(): string[] {
    return this.arrivals.map(({ name }) => name).sort();
  }

  folder(path: string, isInbox: boolean): WatchedFolder {
    return { companyId: 1, companyCode: "ACME", path, isInbox, inboundDirectory: this.inbound };
  }

  /** Only the share is watched. */
  watchShare(path: string = this.share): void {
    this.folders = [this.folder(path, false)];
  }

  get endpoint(): FolderEndpoint {
    this.#endpoint ??= new FolderEndpoint(this.#deps());
    return this.#endpoint;
  }

  async start(): Promise<void> {
    await this.endpoint.start(new AbortController().signal);
    await this.endpoint.scanNow();
  }

  /** Resolves when the condition holds; checked whenever something was handed over or logged. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  warnings(message: RegExp): LogLine[] {
    return this.lines.filter(({ level, msg }) => level === "warn" && message.test(msg));
  }

  tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endpoint?.stop(AbortSignal.timeout(10_000));
    rmSync(this.root, { recursive: true, force: true });
  }

  #deps(): FolderEndpointDeps {
    return {
      inbox: this.#inbox(),
      folders: async () => this.folders,
      settings: () => this.settings,
      clock: { now: () => this.nowMs },
      log: createLogger({ level: "debug", destination: { write: (line) => this.#logged(line) } }),
      disk: this.disk,
      watch: (path, handlers) => this.watch(path, handlers),
      isIncomplete: async (path) => this.isIncomplete(readFileSync(path, "utf8")),
      whyNoRoom: async () => this.whyNoRoom(),
      ...{ changeClock: this.changeClock, againEveryMs: this.againEveryMs, isSole: this.isSole },
      mayTakeForMs: (companyId) => this.mayTakeForMs?.(companyId),
      takeThread: () => ({
        run: async (request) => {
          await this.beforeTake(request);
          return answerOf(this.calls, request);
        },
        close: async () => undefined,
      }),
    };
  }

  #inbox(): FolderEndpointDeps["inbox"] {
    const inbox: FolderEndpointDeps["inbox"] = {
      reserve: (path) => void this.known.add(path),
      release: (path) => void this.known.delete(path),
      clearReceipt: async () => undefined,
      isKnown: (path) => this.known.has(path),
      arriveAll: async (arrivals) => {
        for (const { path } of arrivals) this.known.add(path);
        this.handedOver.push([...arrivals]);
        this.heldDuring.push(this.holds);
        this.tell();
      },
      keepBack: (_companyId, name) => {
        this.keptBack.add(name);
        return () => void this.keptBack.delete(name);
      },
      hold: async () => {
        this.holds += 1;
        return () => {
          this.holds -= 1;
          this.tell();
        };
      },
    };
    return inbox;
  }

  #logged(line: string): void {
    this.lines.push(JSON.parse(line) as LogLine);
    this.tell();
  }
}

/** Throws as a call of the system does that fails with this code. */
export function fail(code: string): never {
  throw Object.assign(new Error(code), { code });
}

/** A folder on another file system than the temporary folder, where there is one. */
export function otherFileSystem(rig: FolderRig): string | undefined {
  if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(rig.root).dev) return undefined;
  return mkdtempSync("/dev/shm/dropgate-folders-");
}

/** The names in `inbound/`, without those of our own. */
export function left(rig: FolderRig): readonly string[] {
  return readdirSync(rig.inbound).filter((file) => !file.startsWith("."));
}

/** The copies that are being taken. */
export function copies(rig: FolderRig): readonly string[] {
  const folder = join(rig.inbound, ".taking");
  return existsSync(folder) ? readdirSync(folder) : [];
}
