/**
 * A restore drill on PostgreSQL with the real program: a base backup is made while files come in, then a moment is noted, and the
 * tree is copied while work goes on; server, disk and tree are lost. The database is put back to the moment, the tree to its
 * copy. Then hosts send again what they sent since, deliveries are released, and all that is there twice or not is counted.
 */
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ArchivedPostgres } from "./archived-postgres.ts";
import { company, type Site } from "./daemon.ts";
import { importLoads, outcome, post } from "./gateway-client.ts";
import { makePostgresSite } from "./postgres-site.ts";
import { type Receiver, reply, startReceiver } from "./receiver.ts";
import { runProgram } from "./run-program.ts";
import { nameDatabase } from "./site-database.ts";
import { put, type StopFile, stopFile } from "./stop-files.ts";
import { waitFor } from "./wait-for.ts";

export interface PostgresDrillReport {
  readonly restoreMs: number;
  readonly sentBefore: number;
  readonly sentAfter: number;
  /** Names of before the moment that are not applied exactly once in the restored state, before anything is sent again. */
  readonly notThere: readonly string[];
  /** What `check` and the log of the start say of the restore. */
  readonly noticed: { readonly check: boolean; readonly log: boolean; readonly readyz: number };
  /** Names of files in the tree that the ledger does not know, as `ledger verify` lists them after the start. */
  readonly unknown: readonly string[];
  /** Such names of before the moment. */
  readonly wronglyUnknown: readonly string[];
  /** Names of entries that wait for a file which was filed away after the moment: the one that is sent again is theirs. */
  readonly missing: readonly string[];
  /** Discrepancies but these, and that the bytes of `missing` are not where they were. */
  readonly otherwise: readonly string[];
  /** Files that were sent again, and entries that are duplicates then. */
  readonly sentAgain: number;
  readonly duplicates: number;
  /** Names that are not applied exactly once at the end. */
  readonly notOnce: readonly string[];
  readonly beforeRelease: number;
  /** Deliveries that went out again, and such with an id of before and other bytes. */
  readonly wentAgain: number;
  readonly otherBytes: readonly string[];
}

interface LedgerProof {
  readonly discrepancies: readonly {
    readonly kind: string;
    readonly location: string;
    readonly message: string;
  }[];
}

/** Of rsync: files were gone when it came to them. */
const filesMoved = 24;

class PostgresDrill {
  readonly #site: Site;
  readonly #postgres: ArchivedPostgres;
  readonly #receiver: Receiver;
  readonly #count: number;
  readonly #before: StopFile[] = [];
  readonly #after: StopFile[] = [];
  #sent = this.#before;

  constructor(site: Site, postgres: ArchivedPostgres, receiver: Receiver, count: number) {
    this.#site = site;
    this.#postgres = postgres;
    this.#receiver = receiver;
    this.#count = count;
  }

  async run(): Promise<PostgresDrillReport> {
    const moment = await this.#workUntilMoment();
    await this.#workAfter();
    await this.#postgres.archived();
    const delivered = this.#posted();
    await this.#lose();
    const begun = performance.now();
    await this.#restore(moment);
    const check = (await this.#site.cli("check")).output;
    const run = await this.#site.start();
    const restoreMs = performance.now() - begun;
    await this.#untilApplied(this.#before);
    const missing = await this.#waiting();
    const notThere = this.#notOnce(await this.#ledger(), this.#before);
    const readyz = await this.#readyz();
    const proof = await this.#verify();
    const sentAgain = await this.#sendAgain();
    const files = await this.#ledger();
    const beforeRelease = this.#receiver.posts.length;
    await this.#site.mustRun("delivery", "release");
    await this.#untilDelivered();
    await waitFor("a verified state to be ready", async () => (await this.#readyz()) === 200);
    const again = this.#posted();
    return {
      ...{ restoreMs, sentBefore: this.#before.length, sentAfter: this.#after.length, notThere },
      noticed: { check: saysRestored(check), log: run.log.some(({ msg }) => saysRestored(msg)), readyz },
      ...this.#sortOut(proof, missing),
      missing,
      ...{ sentAgain, duplicates: files.filter(({ state }) => state === "duplicate").length },
      notOnce: this.#notOnce(files, [...this.#before, ...this.#after]),
      ...{ beforeRelease, wentAgain: again.size },
      otherBytes: [...again.keys()].filter((id) => delivered.get(id) !== again.get(id)),
    };
  }

  async #workUntilMoment(): Promise<string> {
    await this.#send(this.#count);
    const stops = ["S1", "S2", "S3"].map((stopNbr) => ({ stopNbr, stopType: "DO" }));
    const loadAssignment = { driverUserName: "ann" };
    await importLoads(this.#site, [{ loadHeader: { loadNbr: "L1" }, stops, loadAssignment }]);
    for (const code of ["route.initiated", "route.origin.depart"]) await this.#report(code);
    await this.#complete("S1");
    await this.#untilDelivered();
    await this.#sendBeside(this.#postgres.backUp());
    await this.#send(this.#count);
    // It waits at the moment, and goes out after it.
    this.#receiver.always(reply(503));
    await this.#complete("S2");
    this.#sent = this.#after;
    // Of what is under way at the moment nobody knows on which side of it it is: hosts send it again.
    const underWay = this.#send(4 * this.#count);
    await waitFor("files to come in", async () => (await this.#ledger()).length > this.#before.length + 5);
    const moment = await this.#postgres.now();
    await underWay;
    return moment;
  }

  async #workAfter(): Promise<void> {
    await this.#sendBeside(this.#copyTree());
    this.#receiver.always();
    await this.#site.mustRun("delivery", "retry", "--all", "--target", "host");
    await this.#complete("S3");
    await this.#send(this.#count);
    await this.#untilDelivered();
  }

  get #copy(): string {
    return join(this.#site.folder, "copy");
  }

  /** Twice, as docs/postgresql.md says: a file that moves from a folder to one that was copied before is in the second pass. */
  async #copyTree(): Promise<void> {
    const pass = ["-a", "--exclude=/dropgate.generation", `${this.#site.stateDir}/`, `${this.#copy}/`];
    for (const args of [pass, ["--delete-after", ...pass]]) {
      const { exitCode, output } = await runProgram("rsync", args);
      if (exitCode !== 0 && exitCode !== filesMoved)
        throw new Error(`rsync ended with ${exitCode}: ${output}`);
    }
  }

  async #lose(): Promise<void> {
    await this.#site.kill();
    await this.#postgres.lose();
    await rm(this.#site.stateDir, { recursive: true });
    this.#receiver.posts.length = 0;
  }

  async #restore(moment: string): Promise<void> {
    await this.#postgres.restoreTo(moment);
    await rename(this.#copy, this.#site.stateDir);
    await nameDatabase(this.#site.folder, this.#postgres.url);
  }

  /** What the hosts sent since the moment, and the last one before it. */
  async #sendAgain(): Promise<number> {
    const files = [...this.#before.slice(-1), ...this.#after];
    await put(this.#site, ...files);
    await this.#untilDecided();
    return files.length;
  }

  async #verify(): Promise<LedgerProof> {
    return JSON.parse((await this.#site.cli("ledger", "verify", "--json")).stdout) as LedgerProof;
  }

  #sortOut({ discrepancies }: LedgerProof, missing: readonly string[]) {
    const unknown = discrepancies.filter(({ kind }) => kind === "unaccounted");
    const names = unknown.map(({ location }) => basename(location));
    const known = new Set(this.#before.map(({ name }) => name));
    const others = discrepancies.filter(
      ({ kind, location }) =>
        kind !== "unaccounted" && !(kind === "missing" && missing.includes(basename(location))),
    );
    return {
      unknown: names,
      wronglyUnknown: names.filter((name) => known.has(name)),
      otherwise: others.map(({ kind, location, message }) => `${kind} ${location}: ${message}`),
    };
  }

  async #send(count: number): Promise<void> {
    const all = this.#before.length + this.#after.length;
    const files = Array.from({ length: count }, (_, at) => stopFile(`F${all + at + 1}`));
    await put(this.#site, ...files);
    this.#sent.push(...files);
  }

  /** One file after the other for as long as the work lasts. */
  async #sendBeside(work: Promise<void>): Promise<void> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    do await this.#send(5);
    while (!isDone);
    await done;
  }

  async #complete(stopNbr: string): Promise<void> {
    for (const step of ["arrival", "confirmation"]) await this.#report(`stop.dropoff.${step}`, stopNbr);
  }

  async #report(eventCode: string, stopNbr?: string): Promise<void> {
    const geoStamp = { eventDTTM: "2026-11-05T09:00:00", eventTz: "UTC" };
    const data = stopNbr === undefined ? {} : { stopEventData: { stopNbr } };
    const body = { eventCode, geoStamp, routeNbr: "L1", ...data };
    const answer = await outcome(post(this.#site, "/v5/event/route", body, { userName: "ann" }));
    if (answer !== "200") throw new Error(`${eventCode} of ${stopNbr ?? "L1"} was answered ${answer}`);
  }

  /** Or as many as there are after a while: what is not there is told by the report. */
  async #untilApplied(sent: readonly StopFile[]): Promise<void> {
    const deadline = Date.now() + 20_000;
    while (this.#notOnce(await this.#ledger(), sent).length > 0 && Date.now() < deadline) await pause(200);
  }

  async #waiting(): Promise<string[]> {
    const waiting = await this.#site.json<{ name: string }[]>("files", "--state", "waiting");
    return waiting.map(({ name }) => name);
  }

  async #untilDecided(): Promise<void> {
    await waitFor("all files to be decided", async () => (await this.#waiting()).length === 0 || undefined);
  }

  async #untilDelivered(): Promise<void> {
    await waitFor("all deliveries to be made", async () => {
      const open = ["waiting", "behind"].map((state) =>
        this.#site.json<unknown[]>("deliveries", "--state", state),
      );
      return (await Promise.all(open)).every((some) => some.length === 0) || undefined;
    });
  }

  async #readyz(): Promise<number> {
    return (await fetch(`${this.#site.http}/readyz`)).status;
  }

  #ledger() {
    return this.#site.json<{ name: string; state: string }[]>("files", "--limit", "100000");
  }

  #notOnce(files: readonly { name: string; state: string }[], sent: readonly StopFile[]): string[] {
    const applied = files.filter(({ state }) => state === "applied");
    const counts = Map.groupBy(applied, ({ name }) => name);
    return sent.map(({ name }) => name).filter((name) => counts.get(name)?.length !== 1);
  }

  /** By the ids of deliveries. */
  #posted(): Map<string, string> {
    const entries = this.#receiver.posts.map(
      ({ headers, body }) => [String(headers["x-dropgate-delivery"]), body.toString()] as const,
    );
    return new Map(entries);
  }
}

function saysRestored(text: string): boolean {
  return text.includes("an older database was restored");
}

/** Needs Debian's packages postgresql and rsync. */
export async function postgresDrill(count: number): Promise<PostgresDrillReport> {
  const folder = await mkdtemp(join(tmpdir(), "dropgate-archived-"));
  const postgres = await ArchivedPostgres.start(folder);
  const receiver = await startReceiver();
  const targets = { host: { type: "https", url: receiver.url, allowPlain: true } };
  const site = await makePostgresSite(postgres.url, { companies: { [company]: { outbound: { targets } } } });
  try {
    await site.addUser("ann", ["DI_Driver"]);
    await site.start();
    return await new PostgresDrill(site, postgres, receiver, count).run();
  } finally {
    await site.end();
    await receiver.end();
    await postgres.end();
  }
}
