/**
 * Whether hosts fetch the files in `outbound/` (specification/outbound.md#picked-up): the watch records complete downloads,
 * moves into `done/` and deletions with the delivery, and reports files that lie longer than
 * `outbound.collectWithinHours`.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { type OutboundSettings, outboundSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import type { Pickup } from "../../exchange/exchange-deps.ts";
import { doneFolderName } from "../../exchange/folders/folder-rights.ts";
import type { Clock } from "../../lib/clock.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { manifestOfFolder } from "../../outbound/export-runs.ts";
import { type Company, listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { listUncollected, recordPickup, type UncollectedFile } from "../../store/outbound/pickups.ts";
import { ownOutboundFolder } from "../daemon/outbound-targets.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";
import { hourMs, minuteMs } from "../../lib/durations.ts";

const intervalMs = 10 * minuteMs;
/** More than anybody reads; the metric then means "at least". */
const mostCounted = 10_000;
const namesKept = 5;

export interface CollectionWatchDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => Pick<Config, "companies" | "stateDir">;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
}

/** The targets that deliver into the company's own folder. */
function ownTargetNames({ targets }: OutboundSettings): readonly string[] {
  return [...targets]
    .filter(([, settings]) => settings.type === "folder" && settings.path === undefined)
    .map(([name]) => name);
}

/**
 * What the delivery of a file is called. One in a folder of an export counts when it is the manifest, which is written
 * last.
 */
function deliveryNameOf(pathInOutbound: string): string | undefined {
  const [folder, name] = [dirname(pathInOutbound), basename(pathInOutbound)];
  if (folder === "." || folder === doneFolderName) return name;
  return name === manifestOfFolder ? folder : undefined;
}

interface Uncollected {
  readonly companyId: number;
  readonly code: string;
  readonly targetNames: readonly string[];
  readonly found: readonly UncollectedFile[];
}

/** Files that lie longer than they may, as the last scan of a folder has found them. */
export interface UncollectedFiles {
  readonly count: number;
  /** When the oldest of them was delivered, milliseconds UTC; undefined when there is none. */
  readonly since: number | undefined;
  /** Of some of them, the oldest first. */
  readonly names: readonly string[];
  /** Of all of them, the oldest first. */
  readonly deliveryIds: readonly number[];
}

/** Watches from now on; the caller requests the first scan. */
export class CollectionWatch {
  readonly #deps: CollectionWatchDeps;
  readonly #found = new Map<string, UncollectedFiles>();
  readonly #rounds: Rounds;

  constructor(deps: CollectionWatchDeps) {
    this.#deps = deps;
    this.#rounds = startRounds((stopping) => this.#scanAll(stopping), { everyMs: intervalMs });
  }

  /** Notes with its delivery that a host has taken a file. */
  async record({ companyId, kind, path, userName, address }: Pickup): Promise<void> {
    const { store, clock, config, companyCodeOf } = this.#deps;
    const code = await companyCodeOf(companyId);
    const folder = ownOutboundFolder(config().stateDir, code);
    const name = deliveryNameOf(relative(folder, path));
    if (name === undefined) return;
    const base = {
      ...{ companyId, name, by: userName, from: address, at: clock.now() },
      targetNames: ownTargetNames(outboundSettingsOf(config(), code)),
    };
    const recorded = kind === "deleted" ? "removed" : "collected";
    await store.write(companyId, (tx) => recordPickup(tx, { ...base, kind: recorded }));
  }

  /** Files that lie longer than they may, by company, as the last scan found them; only where that is watched. */
  uncollected(): ReadonlyMap<string, number> {
    return new Map([...this.#found].map(([code, { count }]) => [code, count]));
  }

  /** Those of one company; undefined where that is not watched, or no scan has succeeded yet. */
  uncollectedOf(code: string): UncollectedFiles | undefined {
    return this.#found.get(code);
  }

  /** Scans the folders of all companies now. */
  scan(): Promise<void> {
    return this.#rounds.run();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #scanAll(stopping: AbortSignal): Promise<void> {
    try {
      for (const company of await listCompanies(this.#deps.store.read)) {
        if (stopping.aborted) return;
        await this.#scanFolderOf(company, stopping);
      }
    } catch (error) {
      this.#deps.log.error({ err: error }, "the uncollected files cannot be listed; retrying");
    }
  }

  async #scanFolderOf({ id: companyId, code }: Company, stopping: AbortSignal): Promise<void> {
    const { store, clock, config, log, isOurs = () => true } = this.#deps;
    const settings = outboundSettingsOf(config(), code);
    const { collectWithinHours: hours } = settings;
    if (hours === 0 || !isOurs(companyId)) {
      this.#found.delete(code);
      return;
    }
    const targetNames = ownTargetNames(settings);
    const before = clock.now() - hours * hourMs;
    const found = await listUncollected(store.read, { companyId, targetNames, before, limit: mostCounted });
    const left = await this.#stillThere({ companyId, code, targetNames, found }, stopping);
    if (stopping.aborted) return;
    const [oldest] = left;
    const names = left.slice(0, namesKept).map(({ name }) => name);
    const deliveryIds = left.map(({ deliveryId }) => deliveryId);
    this.#found.set(code, { count: left.length, names, deliveryIds, since: oldest?.deliveredAt });
    if (oldest === undefined) return;
    log.warn(
      {
        ...{ company: code, files: left.length, hours, oldest: oldest.name },
        deliveredAt: isoTime(oldest.deliveredAt),
      },
      "files in outbound/ were not collected in time; ask the host",
    );
  }

  /** Whoever works on this machine may have taken a file: that is recorded, without a user. */
  async #stillThere(uncollected: Uncollected, stopping: AbortSignal): Promise<readonly UncollectedFile[]> {
    const { companyId, code, targetNames, found } = uncollected;
    const { store, clock, config } = this.#deps;
    const folder = ownOutboundFolder(config().stateDir, code);
    const left: UncollectedFile[] = [];
    for (const file of found) {
      if (stopping.aborted) return left;
      const isThere = (await stat(join(folder, file.name)).catch(unlessMissing)) !== undefined;
      if (isThere) left.push(file);
      else {
        const gone = { companyId, targetNames, name: file.name, kind: "removed" } as const;
        const byNobody = { by: null, from: null, at: clock.now() };
        await store.write(companyId, (tx) => recordPickup(tx, { ...gone, ...byNobody }));
      }
    }
    return left;
  }
}
