/**
 * Checks whether the daemon really works: the store reads and makes a write durable, a document is parsed, and every
 * listener answers. Only then is systemd's watchdog fed and `/readyz` positive.
 */
import { connect } from "node:net";
import type { DocumentPool } from "../../documents/pool/document-pool.ts";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { isStoreFault } from "../../lib/store-error.ts";
import type { Store } from "../../store/database/database.ts";
import { noteAlive } from "../../store/database/meta.ts";
import { checkRestored } from "./restored-watch.ts";

export interface SelfCheckDependencies {
  readonly store: Pick<Store, "read" | "write" | "isOnServer">;
  readonly documents: Pick<DocumentPool, "prepareBytes">;
  readonly clock: Clock;
  readonly timeoutMs: () => number;
  /** Host and port of each endpoint that is up. */
  readonly listeners: () => readonly {
    readonly name: string;
    readonly host: string;
    readonly port: number;
  }[];
}

export interface CheckResult {
  readonly name: string;
  readonly isFine: boolean;
  readonly message?: string;
  /** The fault is one of the database, its disk or another process: a restart would not repair it. */
  readonly isOfSurroundings?: boolean;
}

const probe = new TextEncoder().encode("<Stop><Function>02</Function><StopNbr>probe</StopNbr></Stop>");

function connectOnce(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}

async function checkParser(documents: SelfCheckDependencies["documents"]): Promise<void> {
  const outcome = await documents.prepareBytes(probe);
  if (outcome.kind !== "read") throw new Error(`the probe document was ${outcome.kind}`);
}

function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

async function outcomeOf(name: string, work: Promise<void>, timeoutMs: number): Promise<CheckResult> {
  try {
    await withTimeout(work, timeoutMs);
    return { name, isFine: true };
  } catch (error) {
    return { name, isFine: false, message: messageOf(error), isOfSurroundings: isStoreFault(error) };
  }
}

/** A server that gives no answer is not mended by a restart either. */
async function storeOutcome(
  { store, clock }: SelfCheckDependencies,
  timeoutMs: number,
): Promise<CheckResult> {
  const outcome = await outcomeOf("store", noteAlive(store, clock.now()), timeoutMs);
  return store.isOnServer ? { ...outcome, isOfSurroundings: true } : outcome;
}

/** Of an older database that was restored and not verified since. A restart would not repair that. */
async function ledgerOutcome(read: Store["read"], timeoutMs: number): Promise<CheckResult> {
  return { ...(await outcomeOf("ledger", checkRestored(read), timeoutMs)), isOfSurroundings: true };
}

/** Runs all checks beside each other; resolves within the time-out whatever they do. */
export async function runSelfCheck(deps: SelfCheckDependencies): Promise<readonly CheckResult[]> {
  const timeoutMs = deps.timeoutMs();
  const signal = AbortSignal.timeout(timeoutMs);
  const anyHost = (host: string) => (host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host);
  return await Promise.all([
    storeOutcome(deps, timeoutMs),
    ledgerOutcome(deps.store.read, timeoutMs),
    outcomeOf("parser", checkParser(deps.documents), timeoutMs),
    ...deps
      .listeners()
      .map(({ name, host, port }) => outcomeOf(name, connectOnce(anyHost(host), port, signal), timeoutMs)),
  ]);
}
