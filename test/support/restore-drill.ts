/**
 * A restore drill with the real program: a backup is made while files come in, work goes on after it, the state is lost, and the
 * backup is restored to another folder. Then hosts and drivers send again what they are told to, deliveries are released, and
 * all that came twice is counted.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sftp } from "./clients.ts";
import { company, oneParser, type Settings, Site } from "./daemon.ts";
import { filesBelow } from "./files-below.ts";
import { importLoads, outcome, post } from "./gateway-client.ts";
import { type Receiver, reply, startReceiver } from "./receiver.ts";
import { giveFolder, openSftpRemote, type RemoteSite } from "./remote-site.ts";
import { put, type StopFile, stopFile } from "./stop-files.ts";
import { waitFor } from "./wait-for.ts";
import type { SftpSettings } from "../../src/remote/server-settings.ts";

export interface DrillSize {
  /** Files of hosts before the backup and after it; while it is made they come one after the other. */
  readonly files: { readonly before: number; readonly after: number };
  /** Stops that a driver completes, each of which is delivered to every target. */
  readonly stops: { readonly before: number; readonly after: number };
}

export interface CameTwice {
  /** With the same id or name, and the same bytes. */
  readonly same: number;
  /** The same id or name with other bytes. */
  readonly other: readonly string[];
  /** The same bytes under another id or name: of what was reported again. */
  readonly again: number;
  /** Bytes that were not there before. */
  readonly unknown: readonly string[];
}

export interface DrillReport {
  readonly restoreMs: number;
  /** Files that hosts sent again: what they sent since the moment that the restore names, and the last one before that. */
  readonly sentAgain: number;
  readonly duplicates: number;
  /** Names that were applied more than once, or not at all. */
  readonly notOnce: readonly string[];
  /** What came by HTTPS before deliveries were released. */
  readonly beforeRelease: number;
  /** What came twice, by target. */
  readonly twice: Readonly<Record<"host" | "partner" | "share" | "outbound", CameTwice>>;
  /** Files in `outbound/` that the restore has told of. */
  readonly announced: readonly string[];
  readonly ledger: string;
}

type Bytes = ReadonlyMap<string, string>;

interface Sending {
  readonly file: StopFile;
  /** When its upload was answered at the latest, milliseconds UTC. */
  readonly endedAt: number;
}

interface Ground {
  readonly site: Site;
  readonly receiver: Receiver;
  readonly partner: RemoteSite & { readonly server: SftpSettings };
  readonly share: string;
  readonly backups: string;
}

function textsOf(files: ReadonlyMap<string, Buffer>): Map<string, string> {
  return new Map([...files].map(([name, bytes]) => [name, bytes.toString()]));
}

async function targetsOf({ site, receiver, partner, share }: Omit<Ground, "backups">): Promise<Settings> {
  const { host, port, user, hostKeys, privateKey } = partner.server;
  const keyFile = join(site.folder, "partner-key");
  await writeFile(keyFile, privateKey ?? "", { mode: 0o600 });
  return {
    outbound: { type: "folder" },
    share: { type: "folder", path: share },
    host: { type: "https", url: receiver.url, allowPlain: true },
    partner: {
      ...{ type: "sftp", host, port, user, hostKeys: hostKeys ?? [], privateKey: `file:${keyFile}` },
      directory: partner.directory,
    },
  };
}

class Drill {
  readonly #ground: Ground;
  readonly #size: DrillSize;
  readonly #sent: Sending[] = [];
  /** What the host has fetched from `outbound/` and removed there. */
  readonly #collected = new Map<string, string>();
  #serial = 0;

  constructor(ground: Ground, size: DrillSize) {
    this.#ground = ground;
    this.#size = size;
  }

  async run(): Promise<DrillReport> {
    const { site, receiver, backups, partner, share } = this.#ground;
    await this.#workBefore();
    await this.#backUpBesideWork();
    await this.#workAfter();
    const before = { host: this.#posted(), partner: filesIn(partner.box), share: filesIn(share) };
    await site.kill();
    await rm(site.stateDir, { recursive: true });
    receiver.posts.length = 0;
    await site.moveTo(join(site.folder, "elsewhere", "state"));
    const begun = performance.now();
    const restored = await site.json<{ sendAgainFrom: string; outbound: readonly string[] }>(
      ...["restore", backups, "--to", site.stateDir],
    );
    const restoreMs = performance.now() - begun;
    await site.start();
    const sentAgain = await this.#sendAgain(Date.parse(restored.sendAgainFrom));
    const beforeRelease = receiver.posts.length;
    await site.mustRun("delivery", "release");
    await this.#untilDelivered();
    const files = await this.#ledger();
    return {
      ...{ restoreMs, sentAgain, beforeRelease, announced: restored.outbound },
      duplicates: files.filter(({ state }) => state === "duplicate").length,
      notOnce: this.#notOnce(files),
      twice: {
        host: cameTwice(before.host, this.#posted()),
        partner: cameTwice(before.partner, filesIn(partner.box)),
        share: cameTwice(before.share, filesIn(share)),
        outbound: cameTwice(this.#collected, filesIn(site.path("outbound"))),
      },
      ledger: await site.mustRun("ledger", "verify"),
    };
  }

  async #workBefore(): Promise<void> {
    const { site, receiver } = this.#ground;
    const { files, stops } = this.#size;
    await this.#send(files.before);
    await importLoads(site, [
      {
        loadHeader: { loadNbr: "L1" },
        stops: this.#stopNbrs(0, stops.before + stops.after).map((stopNbr) => ({ stopNbr, stopType: "DO" })),
        loadAssignment: { driverUserName: "ann" },
      },
    ]);
    for (const code of ["route.initiated", "route.origin.depart"]) await this.#report(code);
    const half = Math.ceil(stops.before / 2);
    await this.#complete(this.#stopNbrs(0, half));
    await this.#untilDelivered();
    await this.#collect();
    // What was delivered when the backup is made, and not collected yet; and what waits then.
    const rest = this.#stopNbrs(half, stops.before);
    await this.#complete(rest.slice(1));
    await this.#untilDelivered();
    receiver.always(reply(503));
    await this.#complete(rest.slice(0, 1));
  }

  async #backUpBesideWork(): Promise<void> {
    const { site, backups } = this.#ground;
    let isMade = false;
    const made = site.mustRun("backup", backups).finally(() => {
      isMade = true;
    });
    while (!isMade) await this.#send(1);
    await made;
  }

  async #workAfter(): Promise<void> {
    const { site, receiver } = this.#ground;
    const { files, stops } = this.#size;
    receiver.always();
    await site.mustRun("delivery", "retry", "--all", "--target", "host");
    await this.#send(files.after);
    await this.#complete(this.#stopNbrs(stops.before, stops.before + stops.after));
    await this.#untilDelivered();
    await this.#collect();
  }

  /** What hosts sent since then, and the driver's reports of stops that are not completed. */
  async #sendAgain(since: number): Promise<number> {
    const { site } = this.#ground;
    const later = this.#sent.filter(({ endedAt }) => endedAt >= since);
    const files = this.#sent.slice(-later.length - 1).map(({ file }) => file);
    await put(site, ...files);
    const { before, after } = this.#size.stops;
    await this.#complete(this.#stopNbrs(before, before + after));
    await this.#untilDecided();
    return files.length;
  }

  #stopNbrs(from: number, to: number): string[] {
    return Array.from({ length: to - from }, (_, at) => `S${from + at + 1}`);
  }

  async #send(count: number): Promise<void> {
    const files = Array.from({ length: count }, (_, at) => stopFile(`F${this.#serial + at + 1}`));
    this.#serial += count;
    await put(this.#ground.site, ...files);
    const endedAt = Date.now();
    this.#sent.push(...files.map((file) => ({ file, endedAt })));
  }

  async #report(eventCode: string, stopNbr?: string): Promise<void> {
    const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
    const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
    const body = { eventCode, geoStamp, routeNbr: "L1", ...data };
    const answer = await outcome(post(this.#ground.site, "/v5/event/route", body, { userName: "ann" }));
    if (answer !== "200") throw new Error(`${eventCode} of ${stopNbr ?? "L1"} was answered ${answer}`);
  }

  async #complete(stopNbrs: readonly string[]): Promise<void> {
    for (const stopNbr of stopNbrs)
      for (const step of ["arrival", "confirmation"]) await this.#report(`stop.dropoff.${step}`, stopNbr);
  }

  /** As a host does: fetches each file, then removes it. */
  async #collect(): Promise<void> {
    const { site } = this.#ground;
    const found = filesIn(site.path("outbound"));
    const commands = [...found.keys()].flatMap((name) => [`get "outbound/${name}"`, `rm "outbound/${name}"`]);
    const { exitCode, output } = await sftp(site, commands);
    if (exitCode !== 0) throw new Error(`collecting failed: ${output}`);
    for (const [name, text] of found) this.#collected.set(name, text);
  }

  async #untilDecided(): Promise<void> {
    await waitFor("all files to be decided", async () => {
      const waiting = await this.#ground.site.json<unknown[]>("files", "--state", "waiting");
      return waiting.length === 0 || undefined;
    });
  }

  async #untilDelivered(): Promise<void> {
    await waitFor(
      "all deliveries to be made",
      async () => {
        const open = ["waiting", "behind"].map((state) =>
          this.#ground.site.json<unknown[]>("deliveries", "--state", state),
        );
        return (await Promise.all(open)).every((some) => some.length === 0) || undefined;
      },
      120_000,
    );
  }

  #ledger() {
    return this.#ground.site.json<{ name: string; state: string }[]>("files", "--limit", "100000");
  }

  #notOnce(files: readonly { readonly name: string; readonly state: string }[]): string[] {
    const applied = files.filter(({ state }) => state === "applied");
    const counts = Map.groupBy(applied, ({ name }) => name);
    return this.#sent.map(({ file }) => file.name).filter((name) => counts.get(name)?.length !== 1);
  }

  /** What came by HTTPS, by the ids of its deliveries. */
  #posted(): Map<string, string> {
    const { posts } = this.#ground.receiver;
    return new Map(
      posts.map(({ headers, body }) => [String(headers["x-dropgate-delivery"]), body.toString()]),
    );
  }
}

function filesIn(folder: string): Map<string, string> {
  return textsOf(filesBelow(folder));
}

/** Compares what is there after the disaster with what had come before it, by ids or names. */
function cameTwice(before: Bytes, after: Bytes): CameTwice {
  const keysOf = (files: readonly (readonly [string, string])[]) => files.map(([key]) => key);
  const known = new Set(before.values());
  const twice = [...after].filter(([key]) => before.has(key));
  const further = [...after].filter(([key]) => !before.has(key));
  const other = keysOf(twice.filter(([key, text]) => before.get(key) !== text));
  const unknown = keysOf(further.filter(([, text]) => !known.has(text)));
  return {
    ...{ same: twice.length - other.length, other },
    ...{ again: further.length - unknown.length, unknown },
  };
}

/** Needs OpenSSH's server. */
export async function restoreDrill(size: DrillSize): Promise<DrillReport> {
  const site = await Site.make({ inbound: oneParser });
  const folder = await mkdtemp(join(tmpdir(), "dropgate-drill-"));
  const receiver = await startReceiver();
  const partner = await openSftpRemote();
  try {
    const share = giveFolder(join(folder, "share"));
    const targets = await targetsOf({ site, receiver, partner, share });
    await site.reconfigure({ companies: { [company]: { outbound: { targets } } } });
    await site.addUser("ann", ["DI_Driver"]);
    await site.start();
    return await new Drill({ site, receiver, partner, share, backups: join(folder, "backups") }, size).run();
  } finally {
    await site.end();
    await partner.end();
    await receiver.end();
    await rm(folder, { recursive: true, force: true });
  }
}
