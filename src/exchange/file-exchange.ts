/**
 * The file exchange over the folders of the companies; see exchange-session.ts for what it promises.
 */
import { join } from "node:path";
import { BoundedMap } from "../lib/bounded-map.ts";
import { forwardClock } from "../lib/clock.ts";
import { systemDisk } from "../lib/files/durable-file.ts";
import { CompanyFolders } from "./folders/company-folders.ts";
import type { FileExchangeDeps } from "./exchange-deps.ts";
import {
  ExchangeError,
  type ExchangePeer,
  type ExchangeSession,
  type FileExchange,
} from "./exchange-session.ts";
import { FolderSession } from "./folder-session.ts";
import { PartialDownloads } from "./folders/download.ts";
import { noTransfers, type TransferFigures } from "./transfer-figures.ts";
import { type SweepOptions, sweepPartials } from "./uploads/sweep-partials.ts";
import { UploadClaims } from "./uploads/upload-claims.ts";

/** Files under unfinished names; those that were left so first are forgotten first. */
const maxUploadBegins = 10_000;

export interface FolderExchange extends FileExchange {
  /** What was transferred since the start. */
  readonly transfers: TransferFigures;
  /**
   * Removes parts of interrupted uploads that no client has continued, and reports files left under unfinished names. To be run
   * at start-up, before endpoints listen, and then from time to time.
   */
  sweepPartials(options: SweepOptions): Promise<void>;
  /** Ends all sessions (open uploads become unfinished parts) and opens no more. Safe to call twice. */
  stop(): Promise<void>;
}

/** Makes the exchange over `companiesDir`, which must exist. The companies' folders are made by `ensureCompanyTree`. */
export function createFileExchange(deps: FileExchangeDeps): FolderExchange {
  const disk = deps.disk ?? systemDisk;
  const { companiesDir, clock, log } = deps;
  const closeClock = forwardClock(clock);
  const claims = new UploadClaims();
  const partialDownloads = new PartialDownloads();
  const uploadBegins = new BoundedMap<number>(maxUploadBegins);
  const transfers = noTransfers();
  const companies = new Map<string, CompanyFolders>();
  const sessions = new Set<FolderSession>();
  const reported = new Set<string>();
  let isStopping = false;

  function foldersOf(code: string): CompanyFolders {
    const known = companies.get(code);
    if (known !== undefined) return known;
    const made = new CompanyFolders(join(companiesDir, code), { disk, clock });
    companies.set(code, made);
    return made;
  }

  function openSession(peer: ExchangePeer): ExchangeSession {
    if (isStopping) throw new ExchangeError("failure", "The server is stopping; connect again in a moment");
    const session: FolderSession = new FolderSession({
      context: {
        ...{ deps, disk, claims, partialDownloads, uploadBegins, peer, closeClock },
        transfers: transfers[peer.channel],
      },
      companies: peer.companies.map(({ id, code }) => ({ id, code, folders: foldersOf(code) })),
      ended: () => void sessions.delete(session),
    });
    sessions.add(session);
    return session;
  }

  async function stop(): Promise<void> {
    isStopping = true;
    await Promise.all([...sessions].map((session) => session.end()));
    deps.arrivals.flush();
    await Promise.all([...companies.values()].map((folders) => folders.close()));
    companies.clear();
  }

  return {
    openSession,
    transfers,
    sweepPartials: (options) =>
      sweepPartials({ companiesDir, claims, log, reported, node: deps.node }, options),
    stop,
  };
}
