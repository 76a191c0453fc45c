/**
 * The host of one company in a round: it sends files of its stops in the order of their times, each when the one before was
 * answered, and sends again what was not; it posts stops; and its driver delivers a load. It notes what it was answered.
 */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { askUntilAnswered, SftpLink } from "./cluster-link.ts";
import type { ClusterCompany, ClusterSite } from "./cluster-site.ts";
import { fileName, receiptName, stopElement, stopsDocument } from "./stop-files.ts";
import { isThere } from "../../src/lib/files/is-there.ts";
import { textIfThere } from "./tree-looks.ts";
import { waitFor } from "./wait-for.ts";

/** A content under a name, and what became of its uploads. */
export interface SentFile {
  readonly company: string;
  readonly stopNbr: string;
  readonly version: number;
  readonly name: string;
  readonly sha256: string;
  readonly wanted: "applied" | "refused";
  tries: number;
  answers: number;
  /** When the first of them was answered, milliseconds UTC; 0: never. */
  answeredAt: number;
  /** Why uploads had to be repeated. */
  readonly failures: string[];
}

/** A stop that was posted version after version. */
export interface PostedStop {
  readonly company: string;
  readonly stopNbr: string;
  /** Versions of which a request was not answered: it may be done at any time. */
  readonly unsure: Set<number>;
  last: number;
}

export interface DrivenLoad {
  readonly company: string;
  readonly stopNbrs: readonly string[];
}

/** What the hosts of a round have sent. */
export class Traffic {
  readonly files: SentFile[] = [];
  readonly posted: PostedStop[] = [];
  readonly driven: DrivenLoad[] = [];
  /** Answers that no host expects. */
  readonly surprises: string[] = [];
}

export interface HostPlan {
  readonly site: ClusterSite;
  readonly company: ClusterCompany;
  /** Begins the numbers of all stops of the round. */
  readonly prefix: string;
  readonly random: () => number;
  readonly stops: number;
  /** The longest pause between two files of a stop. */
  readonly paceMs: number;
  readonly traffic: Traffic;
  /** Aborted when the last versions are to be sent. */
  readonly closing: AbortSignal;
  /** Aborted when the host gives up. */
  readonly end: AbortSignal;
}

function timeOf(version: number): string {
  const seconds = 8 * 3_600 + version;
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join("");
}

function documentOf(stopNbr: string, mark: string): string {
  return stopsDocument([stopElement(stopNbr).replace("Corner Shop", mark)]);
}

const markOf = (version: number) => `mark-${version}`;
const againMs = 200;
/** In which hosts begin to send. */
const beginningMs = 1_500;

/** Waits, but not beyond the end of the round. */
async function rest(ms: number, closing: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: closing }).catch(() => undefined);
}

class Host {
  readonly #plan: HostPlan;

  constructor(plan: HostPlan) {
    this.#plan = plan;
  }

  async run(): Promise<void> {
    const { prefix, company, stops } = this.#plan;
    const numbers = Array.from({ length: stops }, (_, at) => `${prefix}${company.code}S${at + 1}`);
    await Promise.all([
      ...numbers.map((stopNbr) => this.#sendStop(stopNbr)),
      this.#postStop(`${prefix}${company.code}P`),
      this.#deliverLoad(`${prefix}${company.code}L`),
    ]);
  }

  /** Version after version until the round closes, and one after that. */
  async #sendStop(stopNbr: string): Promise<void> {
    const { site, company, random, paceMs, closing } = this.#plan;
    const link = new SftpLink(site, company.host);
    // What signs in at one instant, at a machine that was idle, is late by itself.
    await rest(random() * beginningMs, closing);
    try {
      for (let version = 1; ; version += 1) {
        const isLast = closing.aborted;
        const name = fileName(stopNbr, timeOf(version));
        await this.#sendFile(link, { stopNbr, version, name, wanted: "applied" });
        if (random() < 0.15) await this.#sendOther(link, { stopNbr, version, name });
        if (isLast) return;
        if (random() < 0.2) await this.#untilReceipt(name);
        await rest(random() * paceMs, closing);
      }
    } finally {
      link.end();
    }
  }

  /** Other bytes under a name that was answered: once they are answered too, the receipt that is there is theirs. */
  async #sendOther(link: SftpLink, file: Pick<SentFile, "stopNbr" | "version" | "name">): Promise<void> {
    const { site, company, random, traffic } = this.#plan;
    const path = site.path(company.code, "receipts", receiptName(file.name));
    // That of a file which is decided or filed while the other one comes may be seen for a moment.
    const isAnswered = random() < 0.5 && (await this.#isFiled(file.name));
    const { sha256 } = await this.#sendFile(link, { ...file, wanted: "refused" });
    const receipt = await textIfThere(path);
    if (isAnswered && receipt !== undefined && !receipt.includes(sha256))
      traffic.surprises.push(
        `${file.name} was answered, and the receipt of the file before is there: ${receipt}`,
      );
  }

  /** Whether its receipt comes before the round is over, and the ledger knows; false while the database is away. */
  async #isFiled(name: string): Promise<boolean> {
    await this.#untilReceipt(name);
    const text = `select count(*) from files where name = lower('${name}') and is_filed = 0`;
    const unfiled = await this.#plan.site.database.ask(text).catch(() => undefined);
    return String(unfiled?.[0]?.[0]) === "0";
  }

  /** A host that waits for receipts waits for no longer than the round lasts. */
  async #untilReceipt(name: string): Promise<void> {
    const { site, company, closing } = this.#plan;
    const path = site.path(company.code, "receipts", receiptName(name));
    await waitFor(`the receipt of ${name}`, async () => closing.aborted || (await isThere(path)));
  }

  /** Until it is answered. A second file of a name has other bytes. */
  async #sendFile(
    link: SftpLink,
    file: Pick<SentFile, "stopNbr" | "version" | "name" | "wanted">,
  ): Promise<SentFile> {
    const { traffic, company, end } = this.#plan;
    const content = documentOf(file.stopNbr, markOf(file.wanted === "applied" ? file.version : 999_999));
    const sha256 = createHash("sha256").update(content).digest("hex");
    const counts = { tries: 0, answers: 0, answeredAt: 0, failures: [] };
    const sent: SentFile = { company: company.code, ...file, sha256, ...counts };
    traffic.files.push(sent);
    while (sent.answers === 0) {
      end.throwIfAborted();
      sent.tries += 1;
      try {
        await link.put(`/inbound/${file.name}`, content);
        sent.answeredAt = Date.now();
        sent.answers += 1;
      } catch (error) {
        sent.failures.push(error instanceof Error ? error.message : String(error));
        await pause(againMs);
      }
    }
    return sent;
  }

  async #postStop(stopNbr: string): Promise<void> {
    const { site, company, random, paceMs, closing, end, traffic } = this.#plan;
    const posted: PostedStop = { company: company.code, stopNbr, unsure: new Set(), last: 0 };
    traffic.posted.push(posted);
    for (let isLast = false; !isLast; ) {
      isLast = closing.aborted;
      posted.last += 1;
      const body = documentOf(stopNbr, markOf(posted.last));
      const request = { path: `/api/stop/${company.code}`, userName: company.host, body, type: "text/xml" };
      const answer = await askUntilAnswered(site, request, end);
      if (answer.tries > 1) posted.unsure.add(posted.last);
      if (answer.status !== 200 || !answer.body.includes("<Status>10</Status>"))
        traffic.surprises.push(`${stopNbr} version ${posted.last}: ${answer.status} ${answer.body}`);
      await rest(2 * random() * paceMs, closing);
    }
  }

  /** A load of two stops, which the driver delivers while the round lasts. */
  async #deliverLoad(loadNbr: string): Promise<void> {
    const { company, random, paceMs, closing, traffic } = this.#plan;
    const stopNbrs = [`${loadNbr}-1`, `${loadNbr}-2`];
    traffic.driven.push({ company: company.code, stopNbrs });
    await this.#importLoad(loadNbr, stopNbrs);
    const visits = stopNbrs.flatMap((stopNbr) =>
      ["arrival", "confirmation"].map((step) => [`stop.dropoff.${step}`, stopNbr] as const),
    );
    const events: readonly (readonly [code: string, stopNbr?: string])[] = [
      ["route.initiated"],
      ["route.origin.depart"],
      ...visits,
    ];
    for (const [code, stopNbr] of events) {
      await this.#report(loadNbr, code, stopNbr);
      await rest(2 * random() * paceMs, closing);
    }
  }

  async #importLoad(loadNbr: string, stopNbrs: readonly string[]): Promise<void> {
    const { site, company, end, traffic } = this.#plan;
    const load = {
      ...{ loadHeader: { loadNbr }, stops: stopNbrs.map((stopNbr) => ({ stopNbr, stopType: "DO" })) },
      loadAssignment: { driverUserName: company.driver },
    };
    const body = JSON.stringify({ companyCode: company.code, loads: [load] });
    const as = { userName: company.host, type: "application/json" };
    const path = `/v5/load/update/default/${company.code}`;
    const answer = await askUntilAnswered(site, { ...as, path, body }, end);
    const { importId } = JSON.parse(answer.body) as { importId?: string };
    if (importId === undefined)
      traffic.surprises.push(`import of ${loadNbr}: ${answer.status} ${answer.body}`);
    else await this.#untilImported(importId);
  }

  async #untilImported(importId: string): Promise<void> {
    const { site, company, end, traffic } = this.#plan;
    const path = `/v5/import/info/${importId}/${company.code}`;
    for (;;) {
      const { status, body } = await askUntilAnswered(site, { path, userName: company.host }, end);
      if (status !== 200) traffic.surprises.push(`import ${importId}: ${status} ${body}`);
      if (status !== 200 || (JSON.parse(body) as { finishedDTTM: string | null }).finishedDTTM !== null)
        return;
      await pause(againMs);
    }
  }

  /** The same report again when it was not answered: then it may be refused, because it was taken. */
  async #report(routeNbr: string, eventCode: string, stopNbr: string | undefined): Promise<void> {
    const { site, company, end, traffic } = this.#plan;
    const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
    const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
    const body = JSON.stringify({ eventCode, geoStamp, routeNbr, ...data });
    const path = `/v5/event/route/${company.code}`;
    const request = { path, userName: company.driver, body, type: "application/json" };
    const answer = await askUntilAnswered(site, request, end);
    if (answer.status !== 200 && answer.tries === 1)
      traffic.surprises.push(`${eventCode} of ${routeNbr}: ${answer.status} ${answer.body}`);
  }
}

/** Resolves when all that was sent is answered; rejects when `end` is aborted before. */
export async function runHost(plan: HostPlan): Promise<void> {
  await new Host(plan).run();
}
