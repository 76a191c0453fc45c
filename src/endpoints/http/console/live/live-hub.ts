/**
 * Who watches a page live: one ticker a second for all, with what is known anyway, and each row made once for all who see
 * it.
 *
 *   joined ──what was missed, all rows──> told each second what has changed ──> left, or ended
 *
 * Events: `companies` (rows that have changed), `verdict`, `refusal` (a row, with its reference as id; many of a kind are one
 * row, which takes the place of theirs), `beat` (nothing else
 * to tell), `reload` (what was missed is not known any more). Whoever sends them ends a viewer with its session. Nothing
 * survives a restart: browsers come back by themselves, and read the page anew.
 */
import type { Clock } from "../../../../lib/clock.ts";
import { secondMs } from "../../../../lib/durations.ts";
import { createLimitedLog, type LimitedLog } from "../../../../lib/logs/limited-log.ts";
import type { Logger } from "../../../../lib/logs/log.ts";
import { LiveEvents, type LiveRows, type Sight, sightKeyOf } from "./live-events.ts";
import { RefusalNews } from "./refusal-news.ts";
import { refusalTexts } from "./refusal-texts.ts";
import { eventText, retryText } from "./server-event.ts";
import type { LiveSource, Standing } from "./standing.ts";

const mostViewers = 20;
const usualTickMs = secondMs;
const beatMs = 15 * secondMs;
const retryMs = 3 * secondMs;

/** Somebody who watches. */
export interface Viewer extends Sight {
  /** The place behind which refusals are missed (`newestOf`); undefined for whoever misses none. */
  readonly after: string | undefined;
  /** Companies for which it may act. */
  readonly actIds: ReadonlySet<number>;
  /** Takes events. A viewer that does not keep up is disconnected by the server, leaves, and comes back. */
  send(text: string): void;
  /** Ends it: from here on nothing is sent. */
  end(): void;
}

export interface LiveHubDeps {
  readonly source: LiveSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rows: LiveRows;
  /** Between two ticks; a second unless given. */
  readonly tickMs?: number;
}

interface Watching {
  readonly viewer: Viewer;
  readonly sightKey: string;
  /** The last that was sent. */
  verdict: string;
  /** When something was sent last, on the clock of `performance.now()`. */
  sentAt: number;
}

/** The event with the verdict, unless it is that of before. */
function verdictText(watching: Watching, verdict: string | undefined): string {
  if (verdict === undefined || verdict === watching.verdict) return "";
  watching.verdict = verdict;
  return eventText({ event: "verdict", data: verdict });
}

/** Nobody waits for what is told live: a row that cannot be made must not take the daemon down. */
async function loggedWhenFailing(log: LimitedLog, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log.warn({ err: error }, "rows of live pages cannot be made; trying again at the next tick");
  }
}

export class LiveHub {
  readonly #deps: LiveHubDeps;
  readonly #failing: LimitedLog;
  readonly #events: LiveEvents;
  readonly #refusals: RefusalNews;
  readonly #watching = new Set<Watching>();
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: LiveHubDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log, { maxLines: 1, windowMs: 60 * secondMs });
    this.#events = new LiveEvents(deps.rows);
    this.#refusals = new RefusalNews(deps.source, () => this.#watching.size > 0);
  }

  /** The place behind which a page that is made now goes on. */
  newestOf(companyIds: ReadonlySet<number>): string {
    return this.#refusals.newestOf(companyIds);
  }

  /** How all companies stand, for pages. Rejects when the store cannot be asked. */
  standing(): Promise<Standing> {
    return this.#deps.source.standing();
  }

  /** Whether one more may watch. */
  get hasRoom(): boolean {
    return !this.#isStopped && this.#watching.size < mostViewers;
  }

  /** Sends to the viewer from now on. Returns what takes it out again. Without room it is ended at once. */
  join(viewer: Viewer): () => void {
    if (!this.hasRoom) {
      viewer.end();
      return () => undefined;
    }
    const watching = { viewer, sightKey: sightKeyOf(viewer), verdict: "", sentAt: performance.now() };
    // First of all: a viewer to whom nothing can be told keeps no place.
    const beginning = this.#beginningFor(viewer);
    this.#watching.add(watching);
    this.#send(watching, beginning);
    this.#timer ??= setInterval(() => this.#tickOnce(), this.#deps.tickMs ?? usualTickMs).unref();
    void loggedWhenFailing(this.#failing, this.#sendAllRows(watching));
    return () => this.#leave(watching);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#refusals.stop();
    this.endAll();
    await this.#ticking;
    this.#failing.flush();
  }

  /** Ends all: their browsers come back, with the rights that they have by now. */
  endAll(): void {
    for (const watching of [...this.#watching]) {
      this.#leave(watching);
      watching.viewer.end();
    }
  }

  #beginningFor({ after, companyIds }: Viewer): string {
    const missed = after === undefined ? [] : this.#refusals.missedSince(after, companyIds);
    if (missed === undefined) return retryText(retryMs) + eventText({ event: "reload", data: "" });
    return retryText(retryMs) + missed.map((refusal) => this.#events.refusal(refusal)).join("");
  }

  async #sendAllRows(watching: Watching): Promise<void> {
    const standing = await this.#standing();
    if (standing !== undefined) this.#send(watching, this.#events.allCompanies(standing, watching.viewer));
  }

  /** Undefined while the store cannot be asked: then nothing changes on the pages. */
  async #standing(): Promise<Standing | undefined> {
    try {
      return await this.#deps.source.standing();
    } catch (error) {
      this.#failing.warn({ err: error }, "live pages cannot be told how companies stand; retrying");
      return undefined;
    }
  }

  /** Never two at a time: with a slow store the next one is left out. */
  #tickOnce(): void {
    this.#ticking ??= loggedWhenFailing(this.#failing, this.#tick()).finally(() => {
      this.#ticking = undefined;
    });
  }

  async #tick(): Promise<void> {
    const standing = await this.#standing();
    const sights = [...this.#watching].map(({ viewer }) => viewer);
    const changed = standing === undefined ? [] : [...this.#events.changed(standing, sights)];
    const verdicts = standing === undefined ? undefined : this.#events.verdicts(standing, sights);
    const refused = await refusalTexts(this.#refusals.take(), {
      ...{ source: this.#deps.source, events: this.#events, failing: this.#failing },
    });
    for (const watching of [...this.#watching]) {
      const { companyIds, actIds } = watching.viewer;
      const rows = changed.flatMap(([id, row]) => (companyIds.has(id) ? row : []));
      const texts = refused.flatMap(({ companyId: id, text }) =>
        companyIds.has(id) ? text(actIds.has(id)) : [],
      );
      const verdict = verdictText(watching, verdicts?.get(watching.sightKey));
      this.#send(watching, this.#events.companies(rows) + verdict + texts.join(""));
    }
  }

  /** With nothing to tell, a sign of life now and then: browsers hear nothing of the comments that keep proxies at it. */
  #send(watching: Watching, text: string): void {
    if (!this.#watching.has(watching)) return;
    const now = performance.now();
    if (text === "" && now - watching.sentAt < beatMs) return;
    watching.sentAt = now;
    const beat = eventText({ event: "beat", data: String(this.#deps.clock.now()) });
    watching.viewer.send(text === "" ? beat : text);
  }

  #leave(watching: Watching): void {
    this.#watching.delete(watching);
    if (this.#watching.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#refusals.take();
    this.#events.forget();
  }
}
