/**
 * What the running daemon knows of files that do not go on, and of those of remotes that are not taken, for `dropgate explain`, which runs in another process: a
 * file in the state directory, of several nodes one below it for each, rewritten when something has changed. Nothing depends
 * on it; a crash leaves it behind, and its process id or its incarnation shows that it is of another run.
 */
import { join } from "node:path";
import type { Logger } from "../../../lib/logs/log.ts";
import type { HeldInDetail } from "../../../inbound/lanes/held-files.ts";
import type { UntakenOfRemote } from "../../../inbound/remotes/untaken-files.ts";
import { startRounds } from "../../../lib/rounds.ts";
import { readShown, readShownByNodes, ShownFile } from "./shown-file.ts";

export interface HeldReport {
  /** Of the daemon. */
  readonly pid: number;
  /** Of a node. */
  readonly incarnation?: string | undefined;
  readonly companies: readonly HeldInDetail[];
  /** What remotes have that is not taken. */
  readonly remotes: readonly UntakenOfRemote[];
  /** What else is wrong, as `/readyz` reports it. */
  readonly troubles: readonly string[];
}

const reportEveryMs = 2_000;
const fileName = "dropgate.held.json";

/** What of it is told. */
export type Held = Pick<HeldReport, "companies" | "remotes" | "troubles">;

export interface HeldReporterDeps {
  /** The state directory, or what the node shows the others. */
  readonly shownDir: string;
  readonly incarnation?: string | undefined;
  readonly current: () => Held;
  readonly log: Pick<Logger, "warn" | "info">;
  /** 2 s when not given. */
  readonly everyMs?: number;
}

function isEmpty({ companies, remotes, troubles }: Held): boolean {
  return [troubles, companies, remotes].every((list) => list.length === 0);
}

/** Writes until it is stopped; returns the stop. */
export function startHeldReports(deps: HeldReporterDeps): () => Promise<void> {
  const { shownDir, incarnation, current, log, everyMs = reportEveryMs } = deps;
  const path = join(shownDir, fileName);
  const file = new ShownFile({ path, what: "the list of held files", whom: "`dropgate explain`", log });
  const report = async () => {
    const now = current();
    await file.show(isEmpty(now) ? null : JSON.stringify({ pid: process.pid, incarnation, ...now }));
  };
  const rounds = startRounds(report, { everyMs });
  void rounds.run();
  return async () => {
    await rounds.stop();
    await file.remove();
  };
}

/** Whose reports are read. */
export interface Reporters {
  /** The process of the daemon that has the state directory alone. */
  readonly pid: number | undefined;
  /** The incarnations of the nodes that are there, by name; none on SQLite. */
  readonly nodes: ReadonlyMap<string, string>;
}

/** What the daemons that run have written, as one report; undefined when there is nothing to tell. */
export async function readHeldReport(stateDir: string, { pid, nodes }: Reporters): Promise<Held | undefined> {
  const alone =
    pid === undefined || nodes.size > 0 ? undefined : await readShown<HeldReport>(stateDir, fileName);
  const ofNodes = await readShownByNodes<HeldReport>(stateDir, fileName, nodes);
  const reports = alone !== undefined && alone.pid === pid ? [alone, ...ofNodes] : ofNodes;
  if (reports.length === 0) return undefined;
  return {
    companies: reports.flatMap(({ companies }) => companies),
    remotes: reports.flatMap(({ remotes }) => remotes),
    troubles: [...new Set(reports.flatMap(({ troubles }) => troubles))],
  };
}
