/**
 * How companies stand as far as only the node knows that does their work: what waits there, what is late, what halts. Each
 * node shows it to the others in a file below its own folder in the tree, and reads what they show, so that each of them
 * can answer for all companies. Where there is one process, it knows everything itself.
 */
import { join } from "node:path";
import type { LateExpectation } from "../../../endpoints/http/console/live/standing.ts";
import type { Pipeline } from "../../../inbound/pipeline.ts";
import type { Clock } from "../../../lib/clock.ts";
import { given } from "../../../lib/given.ts";
import { loggingFirstFailure } from "../../../lib/logs/first-failure.ts";
import type { Logger } from "../../../lib/logs/log.ts";
import type { LiveNode } from "../../../store/cluster/live-nodes.ts";
import type { ArrivalWatch, LateArrivals } from "../arrival-watch.ts";
import type { CollectionWatch } from "../collection-watch.ts";
import { type Rounds, startRounds } from "../../../lib/rounds.ts";
import { readShownByNodes, ShownFile } from "./shown-file.ts";

/** Plain data, of the companies that there is something to tell of. */
export interface NodeStanding {
  readonly waiting: readonly {
    readonly companyId: number;
    readonly count: number;
    /** Since when the one waits that has waited longest, milliseconds UTC. */
    readonly since: number;
  }[];
  /** Why nothing at all is decided, by the codes of companies. */
  readonly halts: Readonly<Record<string, string>>;
  readonly late: readonly (LateExpectation & { readonly companyId: number })[];
  /** Files that lie in `outbound/` longer than they may, by the codes of companies; none where that is not watched. */
  readonly uncollected: Readonly<Record<string, number>>;
}

/** The parts of the daemon that know. */
interface StandingSources {
  readonly pipeline: Pick<Pipeline, "statistics" | "held">;
  readonly arrivalWatch: Pick<ArrivalWatch, "late">;
  readonly collectionWatch: Pick<CollectionWatch, "uncollected">;
  readonly clock: Clock;
}

function lateExpectation({ company, name, expected, window }: LateArrivals): NodeStanding["late"][number] {
  const { atLeast, name: files, channel, user } = expected;
  const { beginsAt, dueAt, count: arrived } = window;
  const counted = { files: given({ name: files, channel, user }) };
  return { companyId: company.id, name, beginsAt, dueAt, arrived, atLeast, ...counted };
}

/** What this process knows at this moment. */
function ownStandingOf(sources: StandingSources): NodeStanding {
  const { pipeline, arrivalWatch, collectionWatch, clock } = sources;
  const now = clock.now();
  return {
    waiting: pipeline
      .statistics()
      .waiting.filter(({ count }) => count > 0)
      .map(({ companyId, count, oldestAgeMs }) => ({ companyId, count, since: now - oldestAgeMs })),
    halts: Object.fromEntries(
      pipeline.held().flatMap(({ company, halt }) => (halt === undefined ? [] : [[company, halt.message]])),
    ),
    late: arrivalWatch.late().map(lateExpectation),
    uncollected: Object.fromEntries(collectionWatch.uncollected()),
  };
}

const fileName = "dropgate.standing.json";
const everyMs = 2_000;

interface Shown {
  readonly incarnation: string;
  readonly standing: NodeStanding;
}

export interface NodeStandingsDeps extends StandingSources {
  /** Those that are there, by name. */
  readonly liveNodes: () => Promise<ReadonlyMap<string, Pick<LiveNode, "incarnation">>>;
  readonly stateDir: string;
  /** What the node shows the others. */
  readonly shownDir: string;
  /** Of this node; undefined where there is one process. */
  readonly incarnation: string | undefined;
  readonly log: Pick<Logger, "error" | "warn" | "info">;
}

export class NodeStandings {
  readonly #deps: NodeStandingsDeps;
  readonly #file: ShownFile;
  #others: readonly NodeStanding[] = [];
  #waitingElsewhere: ReadonlyMap<number, number> = new Map();
  /** None where there is one process. */
  readonly #rounds: Rounds | undefined;

  constructor(deps: NodeStandingsDeps) {
    this.#deps = deps;
    const path = join(deps.shownDir, fileName);
    this.#file = new ShownFile({ path, what: "how companies stand", whom: "other nodes", log: deps.log });
    const tryTo = loggingFirstFailure(
      deps.log,
      "how companies of other nodes stand cannot be read; retrying",
    );
    const isAlone = deps.incarnation === undefined;
    this.#rounds = isAlone ? undefined : startRounds(() => tryTo(() => this.look()), { everyMs });
  }

  /** Of all nodes, as each was up to two seconds ago; this one's, as of now, is the last. */
  all(): readonly NodeStanding[] {
    return [...this.#others, ownStandingOf(this.#deps)];
  }

  /** How many files of a company wait at the node that does its work, another one; 0 when it tells of none. */
  waitingElsewhere(companyId: number): number {
    return this.#waitingElsewhere.get(companyId) ?? 0;
  }

  /** Shows what there is now, and reads what the others show. */
  async look(): Promise<void> {
    const { incarnation } = this.#deps;
    await this.#file.show(JSON.stringify({ incarnation, standing: ownStandingOf(this.#deps) }));
    this.#others = await this.#readOthers();
    const waiting = this.#others.flatMap((other) => other.waiting);
    this.#waitingElsewhere = new Map(waiting.map(({ companyId, count }) => [companyId, count]));
  }

  async stop(): Promise<void> {
    if (this.#rounds === undefined) return;
    await this.#rounds.stop();
    await this.#file.remove();
  }

  async #readOthers(): Promise<readonly NodeStanding[]> {
    const { liveNodes, stateDir, incarnation: own } = this.#deps;
    const others = [...(await liveNodes())].flatMap(([name, { incarnation }]) =>
      incarnation === own ? [] : [[name, incarnation] as const],
    );
    const shown = await readShownByNodes<Shown>(stateDir, fileName, new Map(others));
    return shown.map(({ standing }) => standing);
  }
}
