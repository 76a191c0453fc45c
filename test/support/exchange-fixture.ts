/** A file exchange over a temporary folder, with an inbox that notes what arrives. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureCompanyTree } from "../../src/exchange/folders/company-folders.ts";
import type {
  CollectedReceipt,
  FileExchangeDeps,
  Pickup,
  Removal,
} from "../../src/exchange/exchange-deps.ts";
import type { ExchangeEntry, ExchangeSession, OpenWriteFlags } from "../../src/exchange/exchange-session.ts";
import { createDiskSpace } from "../../src/exchange/uploads/disk-space.ts";
import { createFileExchange, type FolderExchange } from "../../src/exchange/file-exchange.ts";
import { Intake } from "../../src/exchange/uploads/intake.ts";
import type { Arrival } from "../../src/inbound/places/inbox.ts";
import { systemDisk } from "../../src/lib/files/durable-file.ts";
import { createLogger } from "../../src/lib/logs/log.ts";

export interface ExchangeFixture {
  readonly exchange: FolderExchange;
  /** Absolute path of company ACME's folder. */
  readonly home: string;
  readonly companiesDir: string;
  readonly arrivals: Arrival[];
  readonly removals: Removal[];
  readonly pickups: Pickup[];
  readonly receipts: CollectedReceipt[];
  readonly logLines: string[];
  session(userId?: number, companies?: readonly string[]): ExchangeSession;
  close(): Promise<void>;
}

export interface ExchangeChanges extends Partial<Omit<FileExchangeDeps, "intake" | "limits">> {
  readonly limits?: {
    readonly maxUploadBytes: number;
    /** How many files of a company may wait. */
    readonly maxWaiting: number;
    readonly minFreeBytes: (diskBytes: number) => number;
  };
  /** How many do. */
  readonly waiting?: number;
  /** Whether the node cannot tell the one that has a company of files. */
  readonly isCutOff?: () => boolean;
}

export async function openFixture(changes: ExchangeChanges = {}): Promise<ExchangeFixture> {
  const companiesDir = await realpath(await mkdtemp(join(tmpdir(), "exchange-")));
  const home = await ensureCompanyTree(companiesDir, "ACME");
  await ensureCompanyTree(companiesDir, "Beta");
  const arrivals: Arrival[] = [];
  const removals: Removal[] = [];
  const pickups: Pickup[] = [];
  const receipts: CollectedReceipt[] = [];
  const logLines: string[] = [];
  const { limits = { maxUploadBytes: 50_000_000, maxWaiting: 100_000, minFreeBytes: () => 0 } } = changes;
  const { disk = systemDisk, waiting = 0 } = changes;
  const clock = { now: () => Date.now() };
  const log = createLogger({ level: "info", destination: { write: (line) => logLines.push(line) } });
  const { minFreeBytes, maxWaiting } = limits;
  const intake = new Intake({
    space: createDiskSpace({ directory: changes.companiesDir ?? companiesDir, minFreeBytes, disk, clock }),
    isCutOff: changes.isCutOff,
    maxWaiting: () => maxWaiting,
    waitingCount: () => waiting,
    ...{ clock, log },
  });
  const exchange = createFileExchange({
    companiesDir,
    inbox: {
      ...{ reserve: () => undefined, clearReceipt: async () => undefined },
      holderOf: () => ({ release: () => undefined }),
      ...{ isToEnter: () => false, enterElsewhere: async () => undefined },
    },
    arrivals: { arrive: (arrival) => void arrivals.push(arrival), flush: () => undefined },
    ...{ intake, clock, log },
    recordRemoval: async (removal) => void removals.push(removal),
    recordPickup: async (pickup) => void pickups.push(pickup),
    receiptCollected: (receipt) => void receipts.push(receipt),
    ...changes,
    limits,
  });
  const ids: Record<string, number> = { ACME: 1, Beta: 2 };
  return {
    exchange,
    home,
    companiesDir,
    arrivals,
    removals,
    pickups,
    receipts,
    logLines,
    session: (userId = 7, companies = ["ACME"]) =>
      exchange.openSession({
        userId,
        userName: `host${userId}`,
        companies: companies.map((code) => ({ id: ids[code] ?? 9, code })),
        channel: "sftp",
        address: "127.0.0.1",
        connectionId: "c1",
      }),
    close: async () => {
      await exchange.stop();
      intake.stop();
      await rm(companiesDir, { recursive: true, force: true });
    },
  };
}

export const freshUpload: OpenWriteFlags = { create: true, truncate: true, exclusive: false, append: false };
export const appendUpload: OpenWriteFlags = { create: true, truncate: false, exclusive: false, append: true };
export const resumedUpload: OpenWriteFlags = {
  create: true,
  truncate: false,
  exclusive: false,
  append: false,
};

/** Uploads and closes. */
export async function put(session: ExchangeSession, path: string, text: string): Promise<void> {
  const handle = await session.openWrite(path, freshUpload);
  await handle.write(0, Buffer.from(text));
  await handle.close();
}

/** Uploads and breaks the link before the close. */
export async function putBroken(session: ExchangeSession, path: string, text: string): Promise<void> {
  const handle = await session.openWrite(path, freshUpload);
  await handle.write(0, Buffer.from(text));
  await session.end();
}

export async function entriesOf(session: ExchangeSession, path: string): Promise<ExchangeEntry[]> {
  const entries: ExchangeEntry[] = [];
  for await (const page of await session.list(path)) entries.push(...page);
  return entries;
}

export async function namesOf(session: ExchangeSession, path: string): Promise<string[]> {
  return (await entriesOf(session, path)).map((entry) => entry.name).sort();
}
