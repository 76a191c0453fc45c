/**
 * What the running daemon knows of files that do not go on, and of those of remotes that are not taken, for `dropgate explain`, which runs in another process: a
 * file in the state directory, rewritten when something has changed. Nothing depends on it; a crash leaves it behind,
 * and its process id shows that it is of another run.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { rename, rm, writeFile } from "../../lib/files/changes.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { HeldInDetail } from "../../inbound/lanes/held-files.ts";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import { startRounds } from "./rounds.ts";

export interface HeldReport {
  /** Of the daemon. */
  readonly pid: number;
  readonly companies: readonly HeldInDetail[];
  /** What remotes have that is not taken. */
  readonly remotes: readonly UntakenOfRemote[];
  /** What else is wrong, as `/readyz` reports it. */
  readonly troubles: readonly string[];
}

const reportEveryMs = 2_000;
const fileName = "dropgate.held.json";

export interface HeldReporterDeps {
  readonly stateDir: string;
  readonly current: () => Omit<HeldReport, "pid">;
  readonly log: Pick<Logger, "warn" | "info">;
  /** 2 s when not given. */
  readonly everyMs?: number;
}

function isEmpty({ companies, remotes, troubles }: Omit<HeldReport, "pid">): boolean {
  return [troubles, companies, remotes].every((list) => list.length === 0);
}

/** Writes until it is stopped; returns the stop. */
export function startHeldReports(deps: HeldReporterDeps): () => Promise<void> {
  const { stateDir, current, log, everyMs = reportEveryMs } = deps;
  const path = join(stateDir, fileName);
  /** The text that lies there: undefined when that is not known, null when there is none. */
  let written: string | null | undefined;
  let isFailing = false;
  const report = async () => {
    const now = current();
    const text = isEmpty(now) ? null : JSON.stringify({ pid: process.pid, ...now });
    if (text === written) return;
    written = undefined;
    if (text === null) await rm(path, { force: true });
    else {
      await writeFile(`${path}.tmp`, text, { mode: 0o640 });
      await rename(`${path}.tmp`, path);
    }
    written = text;
  };
  // A full disk lasts for hours: logged once when it begins, and once when it ends.
  const tryReport = async () => {
    try {
      await report();
      if (isFailing) log.info({}, "the list of held files can be written again");
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.warn({ err: error }, "the list of held files cannot be written for `dropgate explain`");
      isFailing = true;
    }
  };
  const rounds = startRounds(tryReport, { everyMs });
  void rounds.run();
  return async () => {
    await rounds.stop();
    await rm(path, { force: true }).catch(() => {
      // Of another run: the next daemon writes or removes it.
    });
  };
}

/** What the daemon of that process id has written; undefined when there is nothing to tell. */
export async function readHeldReport(
  stateDir: string,
  pid: number | undefined,
): Promise<HeldReport | undefined> {
  if (pid === undefined) return undefined;
  const text = await readFile(join(stateDir, fileName), "utf8").catch(unlessMissing);
  if (text === undefined) return undefined;
  const report = JSON.parse(text) as HeldReport;
  return report.pid === pid ? report : undefined;
}
