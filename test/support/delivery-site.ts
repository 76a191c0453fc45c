/** A real store with stops that are completed, targets that do as they are told, and a clock that is set by hand. */
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { hourMs } from "../../src/lib/durations.ts";
import type { FailedOutcome } from "../../src/domain/outbound/delivery-fault.ts";
import type { RecordedEventKind } from "../../src/domain/outbound/recorded-events.ts";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import type { TargetInUse } from "../../src/outbound/attempt.ts";
import { DeliveryQueue, type DeliveryQueueDeps } from "../../src/outbound/delivery-queue.ts";
import type { RenderDelivery } from "../../src/outbound/delivery-to-render.ts";
import type { Delivery, DeliveryFault, DeliveryOutcome, Target } from "../../src/outbound/target.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { type OutboundCopy, saveOutboundCopy } from "../../src/store/outbound/outbound-targets.ts";
import { recordEvents } from "../../src/operations/consequences/record-events.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const start = Date.UTC(2026, 10, 5, 8);

type Script = (delivery: Delivery, signal: AbortSignal) => DeliveryOutcome | Promise<DeliveryOutcome>;

/** What was given to a target. */
export interface Sent {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly at: number;
}

/** A target that does what its script says, and remembers what it was given. */
export class ScriptedTarget implements Target {
  concurrency = 4;
  timeoutMs = 60_000;
  readonly sent: Sent[] = [];
  active = 0;
  mostActive = 0;
  closed = 0;
  script: Script = () => ({ kind: "delivered" });
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const [file] = delivery.files;
    const text = Buffer.from((await file?.read()) ?? []).toString();
    this.sent.push({ id: delivery.id, name: file?.name ?? "", text, at: this.#now() });
    this.active += 1;
    this.mostActive = Math.max(this.mostActive, this.active);
    try {
      await setImmediate();
      return await this.script(delivery, signal);
    } finally {
      this.active -= 1;
    }
  }

  async probe(): Promise<DeliveryOutcome> {
    return { kind: "delivered" };
  }

  async close(): Promise<void> {
    this.closed += 1;
  }

  get names(): readonly string[] {
    return this.sent.map(({ name }) => name);
  }
}

/** A failed outcome: temporary and of the delivery alone, unless told otherwise. */
export function failure(rest: Partial<FailedOutcome> = {}, fault: DeliveryFault = "busy"): FailedOutcome {
  return { kind: "failed", fault, isPermanent: false, scope: "delivery", message: "try later", ...rest };
}

export const unreachable = failure({ scope: "target", message: "nobody answers" }, "unreachable");

export interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

/** Of the row, what the file of a test says: always the same for the same row. */
export const renderPlainly: RenderDelivery = async ({ guid, companyCode, name, completion, kind }) => {
  const events = completion?.events.map(({ code }) => code).join(",") ?? "";
  const text = `${kind} ${completion?.stopNbr ?? name} ${completion?.stopStatus ?? ""} ${events}`;
  const bytes = Buffer.from(text);
  const files = [{ name, contentType: "text/plain", read: async () => bytes }];
  return { delivery: { id: guid, companyCode, files }, sha256: "0".repeat(64), size: bytes.length };
};

export class DeliverySite {
  readonly store: Store;
  readonly companyId: number;
  readonly lines: LogLine[] = [];
  now = start;
  random = 0.5;
  render: RenderDelivery = renderPlainly;
  queue: DeliveryQueue;
  readonly #targets = new Map<string, ScriptedTarget>();
  readonly #inUse = new Map<string, TargetInUse>();

  private constructor(store: Store, companyId: number) {
    this.store = store;
    this.companyId = companyId;
    this.queue = this.#newQueue({});
  }

  /** The company ACME with one target `host` that takes completions. */
  static async open(copy: Partial<OutboundCopy> = {}): Promise<DeliverySite> {
    const store = await openFreshStore(temporaryFolder());
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const site = await DeliverySite.over(store, company.id, copy);
    onTestFinished(async () => {
      await site.queue.stop(AbortSignal.abort());
      await store.close();
    });
    return site;
  }

  /** The same in a store that is there, for a company of it. */
  static async over(
    store: Store,
    companyId: number,
    copy: Partial<OutboundCopy> = {},
  ): Promise<DeliverySite> {
    const site = new DeliverySite(store, companyId);
    await site.configure(copy);
    return site;
  }

  async configure(copy: Partial<OutboundCopy>): Promise<void> {
    const targets = [{ name: "host", takesCompletions: true }];
    const all = { companyId: this.companyId, targets, events: [], embedsDocuments: false, ...copy };
    await this.store.write("site", (tx) => saveOutboundCopy(tx, all));
  }

  target(name = "host"): ScriptedTarget {
    let target = this.#targets.get(name);
    if (target === undefined) {
      target = new ScriptedTarget(() => this.now);
      this.#targets.set(name, target);
    }
    return target;
  }

  /** As if the configuration of the target had changed. */
  forgetTarget(name = "host"): void {
    this.#targets.delete(name);
    this.#inUse.delete(name);
  }

  #newQueue(rest: Partial<DeliveryQueueDeps>): DeliveryQueue {
    const log = createLogger({
      level: "debug",
      destination: { write: (line: string) => this.lines.push(JSON.parse(line) as LogLine) },
    });
    return new DeliveryQueue({
      store: this.store,
      clock: { now: () => this.now },
      log,
      random: () => this.random,
      // Time passes when a test says so.
      lookEveryMs: hourMs,
      render: (row) => this.render(row),
      targets: ({ name }) => {
        const target = this.target(name);
        const known = this.#inUse.get(name) ?? { target, timeoutMs: target.timeoutMs };
        this.#inUse.set(name, known);
        return known;
      },
      ...rest,
    });
  }

  /** Starts the queue, a new one when it ran before. */
  async startQueue(rest: Partial<DeliveryQueueDeps> = {}): Promise<DeliveryQueue> {
    this.queue = this.#newQueue(rest);
    await this.queue.start(new AbortController().signal);
    return this.queue;
  }

  /** Time passes, and everything that is due then is tried. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.queue.settled();
  }

  async addStop(stopNbr: string, status: StopStatus = "90", companyId = this.companyId): Promise<void> {
    await this.store.write("site", async (tx) => {
      await tx
        .insertInto("stops")
        .values({
          ...{ company_id: companyId, stop_nbr: stopNbr, stop_nbr_key: stopNbr.toLowerCase() },
          ...{ stop_status: status, receive_status: "00", body: JSON.stringify({ stopNbr }) },
          ...{ execution: "{}", created_at: this.now, updated_at: this.now },
        })
        .onConflict((conflict) =>
          conflict.columns(["company_id", "stop_nbr"]).doUpdateSet({ stop_status: status }),
        )
        .execute();
    });
  }

  /** Records the events of one report of the stop at that local time. */
  async report(stopNbr: string, kinds: readonly RecordedEventKind[], eventDTTM?: string): Promise<void> {
    const { companyId, now: recordedAt } = this;
    const data = eventDTTM === undefined ? {} : { eventDTTM, eventTz: "Europe/Berlin" };
    const events = kinds.map((kind) => ({ companyId, kind, stopNbr, recordedAt, data }));
    await this.store.write("site", (tx) => recordEvents(tx, events));
  }

  /** Completes stops, each added when it is not there, in one transaction. */
  async complete(...stopNbrs: readonly string[]): Promise<void> {
    await this.completeIn(this.companyId, ...stopNbrs);
  }

  /** The same in another company. */
  async completeIn(companyId: number, ...stopNbrs: readonly string[]): Promise<void> {
    for (const stopNbr of new Set(stopNbrs)) await this.addStop(stopNbr, "90", companyId);
    const { now: recordedAt } = this;
    await this.store.write("site", async (tx) => {
      for (const stopNbr of stopNbrs)
        await recordEvents(tx, [{ companyId, kind: "stopDelivery", stopNbr, recordedAt }]);
    });
  }

  async rows(read = this.store.read) {
    return await read.selectFrom("deliveries").selectAll().orderBy("id").execute();
  }

  async states(): Promise<readonly string[]> {
    return (await this.rows()).map(({ state }) => state);
  }
}
