/**
 * Whether all nodes have the settings in common that they must have in common: otherwise what becomes of a file depends on the
 * node that has its company (specification/operation.md#several-nodes). Told once for each set of nodes that differ.
 */
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { LeaseTable } from "../../store/cluster/lease-table.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";

export interface SettingsWatchDeps {
  readonly table: Pick<LeaseTable, "nodes">;
  readonly node: string;
  readonly leaseMs: number;
  readonly log: Logger;
  /** 10 seconds unless given. */
  readonly everyMs?: number;
}

const usualEveryMs = 10_000;

/** The nodes that are there and have other settings than this one. */
async function differing({ table, node, leaseMs }: SettingsWatchDeps): Promise<readonly string[]> {
  const live = (await table.nodes()).filter(({ isStopped, silentMs }) => !isStopped && silentMs < leaseMs);
  const own = live.find(({ name }) => name === node);
  return own === undefined
    ? []
    : live.filter(({ settings }) => settings !== own.settings).map(({ name }) => name);
}

/** Watches from now on. */
export function startSettingsWatch(deps: SettingsWatchDeps): Rounds {
  const { log, node, everyMs = usualEveryMs } = deps;
  const tryTo = loggingFirstFailure(log, "the settings of the other nodes cannot be read; retrying");
  let told = "";
  const look = () =>
    tryTo(async () => {
      const nodes = await differing(deps);
      const now = nodes.join(" ");
      if (now !== told && nodes.length > 0)
        log.warn(
          { node, nodes },
          "other nodes have other settings: give all the same configuration, but for where they listen, and reload them",
        );
      else if (now !== told) log.info({ node }, "all nodes have the same settings");
      told = now;
    });
  return startRounds(look, { everyMs });
}
