/**
 * The traffic of a busy day, spread evenly: files over SFTP and the legacy web service, reads and imports over the gateway,
 * loads with the reports of their driver, whose completion files a host collects.
 */
import { readFile } from "node:fs/promises";
import SftpClient from "ssh2-sftp-client";
import { http } from "../support/clients.ts";
import { company, type Site, user } from "../support/daemon.ts";
import { importLoads, post } from "../support/gateway-client.ts";
import { carrier, stopFile } from "../support/stop-files.ts";

/** So many that the state grows in the ledger alone after the first minutes. */
const stopCount = 2_000;
const linkCount = 4;
/** A host that never signs off would show nothing of what a session leaves behind. */
const uploadsOfLink = 200;
/** More than this at once, and the daemon is not keeping up: what is due then is left out and counted. */
const maxOpen = 300;

export interface TrafficCounts {
  files: number;
  posts: number;
  reads: number;
  loads: number;
  reports: number;
  collected: number;
  leftOut: number;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** A time for the name of the nth file, one second after that of the file before. */
function timeOf(nth: number): string {
  const at = new Date(Date.UTC(2026, 0, 1) + nth * 1_000);
  const day = `${at.getUTCFullYear()}${twoDigits(at.getUTCMonth() + 1)}${twoDigits(at.getUTCDate())}`;
  return `${day}_${twoDigits(at.getUTCHours())}${twoDigits(at.getUTCMinutes())}${twoDigits(at.getUTCSeconds())}`;
}

function fileOf(nth: number) {
  return stopFile(`S${nth % stopCount}`, { time: timeOf(nth), more: carrier(`C${nth % 7}`) });
}

/** One connection after the other, each for some uploads. */
class Link {
  readonly #site: Site;
  #client: SftpClient | undefined;
  #left = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(site: Site) {
    this.#site = site;
  }

  /** One after the other. */
  run(work: (client: SftpClient) => Promise<void>): Promise<void> {
    const mine = this.#turn.then(async () => work(await this.#connected()));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async end(): Promise<void> {
    await this.#turn;
    await this.#client?.end();
    this.#client = undefined;
  }

  async #connected(): Promise<SftpClient> {
    if (this.#client !== undefined && this.#left > 0) {
      this.#left -= 1;
      return this.#client;
    }
    await this.#client?.end();
    const client = new SftpClient();
    const privateKey = await readFile(this.#site.keyFile);
    await client.connect({ host: "127.0.0.1", port: this.#site.sftpPort, username: user, privateKey });
    this.#client = client;
    this.#left = uploadsOfLink;
    return client;
  }
}

export class SoakTraffic {
  readonly counts: TrafficCounts = {
    ...{ files: 0, posts: 0, reads: 0, loads: 0, reports: 0, collected: 0, leftOut: 0 },
  };
  readonly faults: string[] = [];
  readonly #site: Site;
  readonly #ratePerSecond: number;
  readonly #links: readonly Link[];
  readonly #host: Link;
  readonly #open = new Set<Promise<void>>();
  #begun = 0;
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #nth = 0;

  /** The site has the driver `ann`. */
  constructor(site: Site, ratePerSecond: number) {
    this.#site = site;
    this.#ratePerSecond = ratePerSecond;
    this.#links = Array.from({ length: linkCount }, () => new Link(site));
    this.#host = new Link(site);
  }

  start(): void {
    this.#begun = performance.now();
    this.#timer = setInterval(() => this.#goOn(), 50);
  }

  /** Ends after what is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    await Promise.all([...this.#links, this.#host].map((link) => link.end()));
  }

  /** What has become due since the last time, by the clock: a slow moment is made up for. */
  #goOn(): void {
    const due = ((performance.now() - this.#begun) / 1_000) * this.#ratePerSecond;
    while (this.#tick < due) {
      this.#tick += 1;
      if (this.#open.size > maxOpen) this.counts.leftOut += 1;
      else this.#doTick(this.#tick);
    }
  }

  #doTick(tick: number): void {
    const every = (seconds: number) => tick % Math.round(seconds * this.#ratePerSecond) === 0;
    this.#run(tick % 5 === 0 ? () => this.#postFile() : () => this.#upload());
    if (tick % 4 === 0) this.#run(() => this.#read());
    if (every(1)) this.#run(() => this.#importStop());
    if (every(5)) this.#run(() => this.#driveLoad(`L${tick}`));
    if (every(20)) this.#run(() => this.#collect());
  }

  #run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        this.faults.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#open.delete(running));
    this.#open.add(running);
  }

  async #upload(): Promise<void> {
    this.#nth += 1;
    const nth = this.#nth;
    const { name, content } = fileOf(nth);
    const link = this.#links[nth % linkCount];
    await link?.run(async (client) => {
      await client.put(Buffer.from(content), `inbound/${name}`);
    });
    this.counts.files += 1;
  }

  async #postFile(): Promise<void> {
    this.#nth += 1;
    const body = String(fileOf(this.#nth).content);
    await this.#expect(http(this.#site, `/api/stop/${company}`, { body, type: "application/xml" }));
    this.counts.files += 1;
    this.counts.posts += 1;
  }

  async #read(): Promise<void> {
    const stop = `S${Math.floor(Math.random() * Math.min(stopCount, this.#nth))}`;
    const reply = await http(this.#site, `/v5/stop/info/${stop}/${company}`);
    if (reply.status !== 200 && reply.status !== 404) throw new Error(`read of ${stop}: ${reply.status}`);
    this.counts.reads += 1;
  }

  async #importStop(): Promise<void> {
    const stop = {
      stopNbr: `J${this.#tick % stopCount}`,
      to: { address: { addr1: `${this.#tick} Street` } },
    };
    await this.#expect(post(this.#site, "/v5/stop/update/default", { companyCode: company, stops: [stop] }));
  }

  /** A load of two stops from its import to its end, which makes two completion files. */
  async #driveLoad(loadNbr: string): Promise<void> {
    const stopNbrs = ["A", "B"].map((letter) => `${loadNbr}${letter}`);
    const stops = stopNbrs.map((stopNbr) => ({ stopNbr, to: { address: { addr1: "5 First Street" } } }));
    const loadHeader = { loadNbr, originAddr1: "1 Depot Road", originLatitude: 39.7, originLongitude: -89.6 };
    await importLoads(this.#site, [{ loadHeader, stops, loadAssignment: { driverUserName: "ann" } }]);
    this.counts.loads += 1;
    await this.#report(loadNbr, "route.initiated");
    await this.#report(loadNbr, "route.origin.depart");
    for (const stopNbr of stopNbrs) {
      await this.#position(loadNbr);
      await this.#report(loadNbr, "stop.dropoff.arrival", { stopNbr });
      const documents = [{ documentName: "s.png", documentType: "SIGNATURE", documentData: btoa(stopNbr) }];
      await this.#report(loadNbr, "stop.dropoff.confirmation", { stopNbr, autoDepart: true, documents });
    }
  }

  #stamp(): object {
    return { eventDTTM: new Date().toISOString().slice(0, 19), eventTz: "UTC" };
  }

  async #report(routeNbr: string, eventCode: string, stopEventData?: object): Promise<void> {
    const data = stopEventData === undefined ? {} : { stopEventData };
    const body = { eventCode, geoStamp: this.#stamp(), routeNbr, ...data };
    await this.#expect(post(this.#site, "/v5/event/route", body, { userName: "ann" }));
    this.counts.reports += 1;
  }

  async #position(routeNbr: string): Promise<void> {
    const geoStamp = { ...this.#stamp(), latitude: 39.75, longitude: -89.6 };
    await this.#expect(post(this.#site, "/v5/event/gps", { geoStamp, routeNbr }, { userName: "ann" }));
  }

  async #expect(asked: Promise<{ status: number; body: string }>): Promise<void> {
    const { status, body } = await asked;
    if (status !== 200) throw new Error(`answered ${status}: ${body.slice(0, 300)}`);
  }

  /** As a host that polls: list, get, remove. */
  async #collect(): Promise<void> {
    await this.#host.run(async (client) => {
      for (const { name, type } of await client.list("outbound")) {
        if (type !== "-") continue;
        await client.get(`outbound/${name}`);
        await client.delete(`outbound/${name}`);
        this.counts.collected += 1;
      }
    });
  }
}
