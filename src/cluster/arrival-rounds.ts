/**
 * Puts files in line that other nodes have entered for the companies of this one: at once when a transaction is told of them,
 * and it asks for them again and again. Their rows are removed later, those of all companies together.
 */
import { sleep } from "../lib/sleep.ts";
import type { ArrivalTable, CompanyArrivals, OnInLine } from "../store/cluster/arrivals.ts";
import type { HeldLane } from "./held-lane.ts";
import type { HeldLanes } from "./held-lanes.ts";

export interface ArrivalRoundsDeps {
  readonly arrivals: Omit<ArrivalTable, "enter">;
  /** Puts such files in line, and names those that need be told no more; none as long as the work has not begun here. */
  readonly readArrived: (arrivals: CompanyArrivals, onInLine: OnInLine) => Promise<void>;
  /** How often it is asked whether there are any; a tenth of a second unless given. */
  readonly arrivalsMs?: number;
}

const usualArrivalsMs = 100;
/** How often rows of files in line are removed: each time is a transaction. */
const removeEveryMs = 500;
/** With more rows of a company at once: the lock of its lane tells some hundred at most. */
const mostToRemove = 100;

export class ArrivalRounds {
  readonly everyMs: number;
  readonly #deps: ArrivalRoundsDeps;
  readonly #node: string;
  readonly #lanes: Pick<HeldLanes, "all" | "get">;
  /** By their ids. */
  readonly #underWay = new Map<number, Promise<void>>();
  #removedAt = performance.now();
  #isRemoving = false;
  /** Companies with files that could not be put in line in the round before: they must not keep those of others away. */
  #blocked: readonly number[] = [];

  constructor(deps: ArrivalRoundsDeps, node: string, lanes: Pick<HeldLanes, "all" | "get">) {
    this.#deps = deps;
    this.#node = node;
    this.#lanes = lanes;
    this.everyMs = deps.arrivalsMs ?? usualArrivalsMs;
  }

  /** Rejects when the database does not answer. */
  async round(): Promise<void> {
    const companies = this.#lanes.all.filter(({ company }) => company.companyId !== 0);
    if (!companies.every(({ arrivals }) => arrivals.isTold(this.everyMs))) await this.#ask();
    await this.#remove();
  }

  async #ask(): Promise<void> {
    const blocked = this.#blocked;
    // They are asked for in every second round.
    this.#blocked = [];
    const companies = await this.#deps.arrivals.ofNode(this.#node, blocked);
    const areRead = await Promise.all(companies.map((company) => this.#read(company)));
    if (blocked.length === 0)
      this.#blocked = companies.filter((_, at) => areRead[at] === false).map(({ companyId }) => companyId);
  }

  /** All that a transaction was told of. Rejects when the database does not answer. */
  async readTold(companyId: number): Promise<boolean> {
    const fileIds = this.#lanes.get(companyId)?.arrivals.missing;
    return await this.#read({
      companyId,
      fileIds: fileIds ?? (await this.#deps.arrivals.ofCompany(companyId)),
    });
  }

  /** The same, for a unit of work that cannot go on without them. */
  async lookFor(companyId: number, signal: AbortSignal): Promise<void> {
    const areRead = await this.readTold(companyId);
    await this.#remove();
    // Taken over just now, or given back; or an earlier file is to be moved first.
    if (!areRead) await sleep(usualArrivalsMs, signal);
  }

  /**
   * Also while other parts of the work of a company have still to begin, or end already: its files wait for nothing but their turn.
   * False when some of them are not in line.
   */
  async #read({ companyId, fileIds }: CompanyArrivals): Promise<boolean> {
    const lane = this.#lanes.get(companyId);
    if (lane === undefined || lane.stage === "fenced") return false;
    const missing = fileIds.filter((fileId) => !lane.arrivals.has(fileId));
    const unread = missing.filter((fileId) => !this.#underWay.has(fileId));
    if (unread.length > 0) {
      const reading = this.#deps.readArrived({ companyId, fileIds: unread }, (inLine) =>
        lane.arrivals.add(inLine),
      );
      const ended = reading.finally(() => {
        for (const fileId of unread) this.#underWay.delete(fileId);
      });
      for (const fileId of unread) this.#underWay.set(fileId, ended);
    }
    await Promise.all(new Set(missing.map((fileId) => this.#underWay.get(fileId))));
    return missing.every((fileId) => lane.arrivals.has(fileId));
  }

  async #remove(): Promise<void> {
    if (this.#isRemoving || !this.#isTime()) return;
    const inLine = this.#lanes.all.flatMap(removableOf);
    if (inLine.length === 0) return;
    this.#removedAt = performance.now();
    this.#isRemoving = true;
    try {
      await this.#deps.arrivals.remove(inLine);
    } finally {
      this.#isRemoving = false;
    }
    for (const { lane, fileIds } of inLine) lane.arrivals.removed(fileIds);
  }

  #isTime(): boolean {
    if (performance.now() - this.#removedAt >= removeEveryMs) return true;
    return this.#lanes.all.some(({ arrivals }) => arrivals.countToRemove > mostToRemove);
  }
}

function removableOf(lane: HeldLane) {
  if (lane.stage === "fenced") return [];
  const fileIds = lane.arrivals.removable;
  if (fileIds.length === 0) return [];
  return [{ lane, companyId: lane.company.companyId, epoch: lane.epoch, fileIds }];
}
