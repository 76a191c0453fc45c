/**
 * One round of the crash test: the daemon dies at the given steps, one after the other, while a host sends; then it
 * runs in peace until nothing waits, and everything is looked at.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DaemonRun, type Settings, Site } from "../support/daemon.ts";
import { CrashCheck, untilQuiet } from "./crash-check.ts";
import { CrashHost, type Folders, killedExitCode } from "./crash-host.ts";
import { type Chain, chainsOf } from "./crash-orders.ts";

/** How one run of the daemon ends. */
export type Death = (
  | { readonly kind: "random"; readonly afterMs: number }
  /** `DROPGATE_KILL_POINT`: name and, after a colon, the pass. */
  | { readonly kind: "step"; readonly step: string }
  /** Not before all is done; the steps that it passes are noted in the file. */
  | { readonly kind: "peace"; readonly stepsFile: string }
) & {
  /** Told to stop in the middle of the work. */
  readonly stopsAfterMs?: number;
};

export interface Round {
  readonly prefix: string;
  readonly deaths: readonly Death[];
  /** Done to the state after the first death, while nothing runs. */
  readonly between?: (place: CrashPlace) => Promise<void>;
  /** What is sent when not everything there is. */
  readonly chains?: (options: { readonly hasOtherDisk: boolean }) => readonly Chain[];
  readonly before?: (place: CrashPlace) => Promise<void>;
  /** Whether the whole ledger is verified at the end; so unless told otherwise. */
  readonly isVerified?: boolean;
  /** Done when nothing waits any more, before everything is looked at. */
  readonly afterwards?: (place: CrashPlace) => Promise<void>;
}

export interface RoundResult {
  /** The steps that were waited for in vain. */
  readonly missed: readonly string[];
  readonly problems: readonly string[];
  readonly answered: number;
  readonly sentAgain: number;
}

/** Long enough for whatever is still to come after the host has been answered. */
const calmMs = 1_500;

/** A file system that is not the one of the temporary folder, where there is one. */
export const otherDisk = "/dev/shm";

const inboundSettings = { settleMs: 60, scanMs: 400, incompleteGraceMs: 300 } as const;

/** A site with its further folders, used for many rounds. */
export class CrashPlace {
  readonly site: Site;
  readonly folders: Folders;
  readonly hasOtherDisk: boolean;
  starts = 0;

  private constructor(site: Site, folders: Folders, hasOtherDisk: boolean) {
    this.site = site;
    this.folders = folders;
    this.hasOtherDisk = hasOtherDisk;
  }

  /** `settings`: those of the file besides what the crash test needs. */
  static async make(settings: Settings = {}): Promise<CrashPlace> {
    const hasOtherDisk = existsSync(otherDisk) && !tmpdir().startsWith(otherDisk);
    const folder = await mkdtemp(join(tmpdir(), "dropgate-crash-"));
    const folders = {
      folder,
      otherDisk: hasOtherDisk ? await mkdtemp(join(otherDisk, "dropgate-crash-")) : join(folder, "other"),
    };
    if (!hasOtherDisk) await mkdir(folders.otherDisk);
    const site = await Site.make({
      ...settings,
      inbound: inboundSettings,
      companies: { ACME: { folders: [{ path: folders.folder }, { path: folders.otherDisk }] } },
    });
    return new CrashPlace(site, folders, hasOtherDisk);
  }

  /** Settings of the section `inbound` besides those of the crash test. */
  async reconfigure(settings: { readonly inbound: Settings }): Promise<void> {
    await this.site.reconfigure({ inbound: { ...inboundSettings, ...settings.inbound } });
  }

  async end(): Promise<void> {
    await this.site.end();
    await rm(this.folders.folder, { recursive: true, force: true });
    await rm(this.folders.otherDisk, { recursive: true, force: true });
  }

  /** Starts the daemon; undefined when it dies before it is ready. */
  async start(env: NodeJS.ProcessEnv): Promise<DaemonRun | undefined> {
    this.starts += 1;
    try {
      return await this.site.start({ env });
    } catch (error) {
      if ((await this.site.daemon.exit) !== killedExitCode) throw error;
      return undefined;
    }
  }

  /** `dropgate ledger verify` in words when it finds anything. */
  async verifyLedger(): Promise<string[]> {
    const result = await this.site.cli("ledger", "verify");
    return result.exitCode === 0 ? [] : [`ledger verify ended with ${result.exitCode}: ${result.output}`];
  }
}

/** With what the program is started to end so. */
export function environmentFor(death: Death): NodeJS.ProcessEnv {
  if (death.kind === "step") return { DROPGATE_KILL_POINT: death.step };
  return death.kind === "peace" ? { DROPGATE_STEPS_FILE: death.stepsFile } : {};
}

/** What ends the run from outside, if anything does. */
function endFromOutside({ site }: CrashPlace, death: Death): NodeJS.Timeout | undefined {
  const { process } = site.daemon;
  const end = (signal: NodeJS.Signals) => () => {
    if (site.isRunning) process.kill(signal);
  };
  if (death.stopsAfterMs !== undefined) return setTimeout(end("SIGTERM"), death.stopsAfterMs);
  return death.kind === "random" ? setTimeout(end("SIGKILL"), death.afterMs) : undefined;
}

/** Sees to it that the run ends; says whether it died in the way that was asked for. */
async function endRun(place: CrashPlace, death: Death, sending: Promise<void>): Promise<boolean> {
  const { site } = place;
  const { daemon } = site;
  const timer = endFromOutside(place, death);
  const done = sending.then(async () => {
    const late = new Promise((resolve) => setTimeout(resolve, calmMs));
    await Promise.race([late, daemon.exit]);
  });
  await Promise.race([done, daemon.exit]);
  clearTimeout(timer);
  const isExpected = death.kind !== "step" || daemon.exitCode === killedExitCode;
  if (site.isRunning) await site.kill();
  return isExpected;
}

/** Starts the daemon and sees to its death; says whether it died in the way that was asked for. */
export async function die(
  place: CrashPlace,
  death: Death,
  work: { readonly host: CrashHost; readonly sending: Promise<void> },
): Promise<boolean> {
  const run = await place.start(environmentFor(death));
  if (run === undefined) return true;
  await work.host.connect(run);
  const isExpected = await endRun(place, death, work.sending);
  work.host.disconnect();
  return isExpected;
}

/** Runs the round on the place, whose daemon is not running before and after it. */
export async function runRound(place: CrashPlace, round: Round): Promise<RoundResult> {
  const { site, folders, hasOtherDisk } = place;
  const host = new CrashHost(site, folders);
  await round.before?.(place);
  const chains = round.chains?.({ hasOtherDisk }) ?? chainsOf(round.prefix, { hasOtherDisk });
  const sending = host.send(chains);
  // Waited for at the end; a failure before that is told then.
  sending.catch(() => undefined);
  const missed: string[] = [];
  for (const [index, death] of round.deaths.entries()) {
    const isExpected = await die(place, death, { host, sending });
    if (!isExpected && death.kind === "step") missed.push(death.step);
    if (index === 0) await round.between?.(place);
  }
  const run = await place.start({});
  if (run === undefined) throw new Error("the daemon died without a reason");
  await host.connect(run);
  await sending;
  await untilQuiet(site, folders);
  await round.afterwards?.(place);
  const sent = [...host.sent.values()];
  const stops = chains.flatMap((chain) => chain.stops);
  const problems = CrashCheck.run(site, sent, stops);
  if (round.isVerified !== false) problems.push(...(await place.verifyLedger()));
  await host.close();
  await site.kill();
  const tries = sent.reduce((sum, each) => sum + each.tries, 0);
  const answered = sent.reduce((sum, each) => sum + each.answers, 0);
  return { missed, problems, answered, sentAgain: tries - answered };
}
