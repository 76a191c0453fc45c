/** Whether a round has left everything as it must be: ledger, order, stops, deliveries, and how long companies were without service. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { messageOf } from "../../src/lib/errors.ts";
import type { PostedStop, SentFile, Traffic } from "./cluster-host.ts";
import type { ClusterSite } from "./cluster-site.ts";
import { intrusions } from "./cluster-watch.ts";
import type { Post } from "./receiver.ts";
import type { StolenTime } from "./stolen-time.ts";
import { receiptName } from "./stop-files.ts";
import { bytesIfThere, textIfThere } from "./tree-looks.ts";
import { waitFor } from "./wait-for.ts";

/** A time in which nothing can be decided, because the database was away; milliseconds UTC. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

export interface RoundFacts {
  readonly prefix: string;
  readonly traffic: Traffic;
  readonly outages: readonly Outage[];
  /** What the receiver of the companies has had in all. */
  readonly posts: readonly Post[];
  /** What other machines have taken of the processors. */
  readonly stolen: Pick<StolenTime, "betweenMs">;
}

export interface Figures {
  files: number;
  resent: number;
  lost: number;
  doubled: number;
  outOfOrder: number;
  /** The longest time between the answer of an upload and its decision, without what the database was away, ms. */
  longestGapMs: number;
  deliveries: number;
  deliveredAgain: number;
}

export interface Verdict extends Figures {
  readonly problems: string[];
}

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly sha256: string;
  readonly company: string;
  readonly reasons: string;
  readonly decidedAt: number;
}

interface Decision {
  readonly fileId: string;
  readonly at: number;
  readonly before: string;
  readonly state: string;
}

/** Decisions are late by no more than the lease and this. */
export const graceMs = 2_000;

const open = (prefix: string) => `
  select 'entry ' || id || ' ' || name || ' ' || state || case when is_filed = 0 then ', not filed, ' else ' ' end || source
    from files where (is_filed = 0 or state in ('waiting', 'retry')) and name like lower('${prefix}%')
  union all select 'delivery ' || id || ' ' || name || ' ' || state || ' ' || coalesce(fault_text, '') from deliveries
    where state in ('waiting', 'behind') and name like lower('${prefix}%')
  union all select 'import ' || id from imports where finished_at is null`;

/** Waits until nothing of what begins so waits any more; gives what still does, in words. */
export async function untilSettled(
  site: ClusterSite,
  prefix: string,
  timeoutMs: number,
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const isSettled = async () => {
    left = (await site.database.ask(open(prefix))).map(([what]) => `not settled: ${what}`);
    return left.length === 0;
  };
  await waitFor("everything to be settled", isSettled, timeoutMs).catch(() => undefined);
  return left;
}

/** How much of the time the database was away. */
function awayMs(outages: readonly Outage[], from: number, to: number): number {
  return outages.reduce(
    (sum, outage) => sum + Math.max(0, Math.min(to, outage.to) - Math.max(from, outage.from)),
    0,
  );
}

class RoundCheck {
  readonly verdict: Verdict = {
    ...{ files: 0, resent: 0, lost: 0, doubled: 0, outOfOrder: 0, longestGapMs: 0 },
    ...{ deliveries: 0, deliveredAgain: 0, problems: [] },
  };
  readonly #site: ClusterSite;
  readonly #facts: RoundFacts;

  constructor(site: ClusterSite, facts: RoundFacts) {
    this.#site = site;
    this.#facts = facts;
  }

  async run(): Promise<void> {
    const { traffic } = this.#facts;
    await this.#checkFiles();
    await this.#checkStops();
    await this.#checkDriven();
    await this.#checkDeliveries();
    this.#problems.push(...traffic.surprises, ...(await intrusions(this.#site.database)));
  }

  get #problems(): string[] {
    return this.verdict.problems;
  }

  get #pattern(): string {
    return `'${this.#facts.prefix}%'`;
  }

  async #entries(): Promise<ReadonlyMap<string, readonly Entry[]>> {
    const text = `select files.id, files.name, files.state, files.sha256, code, files.reasons, coalesce(files.decided_at, 0)
      from files join companies on companies.id = company_id
      where files.name like lower(${this.#pattern}) order by files.id`;
    const rows = (await this.#site.database.ask(text)).map(
      ([id, name, state, sha256, company, reasons, decidedAt]) => ({
        ...({ id, name, state, sha256, company, reasons } as Entry),
        decidedAt: Number(decidedAt),
      }),
    );
    return Map.groupBy(rows, ({ company, name, sha256 }) => `${company} ${name} ${sha256}`);
  }

  async #decisions(): Promise<readonly Decision[]> {
    const text = `select file_id, at, state_before, state from watch.decisions
      where name like lower(${this.#pattern}) order by nbr`;
    return (await this.#site.database.ask(text)).map(([fileId, at, before, state]) => ({
      ...{ fileId: String(fileId), at: Number(at), before: String(before), state: String(state) },
    }));
  }

  async #checkFiles(): Promise<void> {
    const [entries, decisions] = [await this.#entries(), await this.#decisions()];
    const decided = new Map<string, Decision>();
    for (const decision of decisions) {
      if (decided.has(decision.fileId))
        this.#problems.push(
          `entry ${decision.fileId} was decided twice: ${decision.before} → ${decision.state}`,
        );
      decided.set(decision.fileId, decision);
    }
    const versions = new Map<string, SentFile>();
    for (const sent of this.#facts.traffic.files) {
      const ofFile = entries.get(`${sent.company} ${sent.name} ${sent.sha256}`) ?? [];
      const original = this.#checkSent(sent, ofFile);
      if (original === undefined) continue;
      versions.set(original.id, sent);
      const decision = decided.get(original.id);
      if (decision !== undefined) this.#checkGap(sent, decision);
    }
    this.#checkOrder(decisions, versions);
    await this.#checkReceipts([...entries.values()].flat());
  }

  /** One that a node writes again after a take-over is away for an instant: what is not there is looked for again. */
  async #receiptAt(path: string): Promise<string | undefined> {
    try {
      return await waitFor("the receipt", () => textIfThere(path), 1_000);
    } catch (error) {
      this.#problems.push(`${path}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** That of a name is of the last of its files to be decided. */
  async #checkReceipts(entries: readonly Entry[]): Promise<void> {
    for (const [key, ofName] of Map.groupBy(entries, ({ company, name }) => `${company}/${name}`)) {
      const [first] = ofName;
      if (first === undefined) continue;
      const path = this.#site.path(first.company, "receipts", receiptName(first.name));
      const receipt = await this.#receiptAt(path);
      const [, sha256] = /<StopResponse [^>]*Sha256="([0-9a-f]{64})"/.exec(receipt ?? "") ?? [];
      const inOrder = ofName.toSorted((a, b) => a.decidedAt - b.decidedAt || Number(a.id) - Number(b.id));
      const last = inOrder.at(-1);
      if (receipt !== undefined && sha256 !== last?.sha256)
        this.#problems.push(
          `the receipt of ${key} is of ${sha256 ?? "nothing"}, not of entry ${last?.id}: ${receipt}`,
        );
    }
  }

  /** Gives the entry that was decided on its merits; all others of the content are duplicates of it. */
  #checkSent(sent: SentFile, entries: readonly Entry[]): Entry | undefined {
    const { name, tries, answers, wanted, failures } = sent;
    const about = `${name} (sent ${tries} times, answered ${answers}${failures.map((text) => `; ${text}`).join("")})`;
    this.verdict.files += 1;
    this.verdict.resent += tries - 1;
    const told = entries.map(({ id, state, reasons }) => `${id} ${state} ${reasons === "[]" ? "" : reasons}`);
    const originals = entries.filter(({ state }) => state !== "duplicate");
    const [original] = originals;
    if (original === undefined || entries.length < answers) {
      this.verdict.lost += 1;
      this.#problems.push(`lost: ${about}: entries ${told.join(", ")}`);
    } else if (originals.length > 1 || entries.length > tries) {
      this.verdict.doubled += 1;
      this.#problems.push(`doubled: ${about}: entries ${told.join(", ")}`);
    } else if (original.state !== wanted) this.#problems.push(`${about}: not ${wanted}: ${told.join(", ")}`);
    return original;
  }

  #checkGap(sent: SentFile, { at }: Decision): void {
    const { outages, stolen } = this.#facts;
    const { leaseMs } = this.#site;
    const { answeredAt } = sent;
    const gapMs = at - answeredAt - awayMs(outages, answeredAt, at);
    this.verdict.longestGapMs = Math.max(this.verdict.longestGapMs, gapMs);
    // A lease ends by the clock. What is done after it takes the longer, the more of the processors others have.
    const stolenShare = stolen.betweenMs(answeredAt, at) / Math.max(1, at - answeredAt);
    const stolenMs = Math.round(Math.max(0, gapMs - leaseMs) * stolenShare);
    const allowedMs = leaseMs + graceMs + stolenMs;
    if (gapMs > allowedMs)
      this.#problems.push(
        `late: ${sent.name} was decided ${gapMs} ms after its answer, ${allowedMs} are allowed ` +
          `(${stolenMs} ms of them for what other machines had of the processors)`,
      );
  }

  /** Files of a stop are applied in the order of their versions. */
  #checkOrder(decisions: readonly Decision[], versions: ReadonlyMap<string, SentFile>): void {
    const newest = new Map<string, number>();
    for (const { fileId, state } of decisions) {
      const sent = versions.get(fileId);
      if (sent === undefined || state !== "applied") continue;
      const before = newest.get(sent.stopNbr) ?? 0;
      if (sent.version <= before) this.#disorder(`${sent.name} was applied after version ${before}`);
      newest.set(sent.stopNbr, Math.max(before, sent.version));
    }
  }

  #disorder(what: string): void {
    this.verdict.outOfOrder += 1;
    this.#problems.push(`out of order: ${what}`);
  }

  async #checkStops(): Promise<void> {
    const text = `select stop_nbr, mark from watch.stop_states where stop_nbr like ${this.#pattern} order by nbr`;
    const states = (await this.#site.database.ask(text)).map(([stopNbr, mark]) => ({
      ...{ stopNbr: String(stopNbr), version: Number(mark) },
    }));
    const byStop = Map.groupBy(states, ({ stopNbr }) => stopNbr);
    const versionsOf = (stopNbr: string) => (byStop.get(stopNbr) ?? []).map(({ version }) => version);
    const { files, posted } = this.#facts.traffic;
    const ofFiles = Map.groupBy(files, ({ stopNbr }) => stopNbr);
    for (const [stopNbr, sent] of ofFiles) {
      const wanted = sent.filter((one) => one.wanted === "applied").map(({ version }) => version);
      const seen = versionsOf(stopNbr);
      if (seen.join() !== wanted.join())
        this.#disorder(`stop ${stopNbr} was ${seen.join(" ")}, not ${wanted.join(" ")}`);
    }
    for (const stop of posted) this.#checkPosted(stop, versionsOf(stop.stopNbr));
  }

  /** A request that was never answered may be done at any time: it has no time of its own, and no entry. */
  #checkPosted({ stopNbr, unsure, last }: PostedStop, seen: readonly number[]): void {
    const sure = seen.filter((version) => !unsure.has(version));
    const isInOrder = sure.every((version, at) => at === 0 || version > (sure[at - 1] ?? 0));
    const isComplete = new Set(seen).size === last;
    if (!isInOrder || !isComplete)
      this.#disorder(
        `stop ${stopNbr}, posted up to ${last} (unsure: ${[...unsure].join(" ")}), was ${seen.join(" ")}`,
      );
  }

  async #checkDriven(): Promise<void> {
    const text = `select stop_nbr, trigger_code from completions where stop_nbr like ${this.#pattern} order by id`;
    const rows = await this.#site.database.ask(text);
    const byStop = Map.groupBy(rows, ([stopNbr]) => String(stopNbr));
    for (const stopNbr of this.#facts.traffic.driven.flatMap(({ stopNbrs }) => stopNbrs)) {
      const codes = (byStop.get(stopNbr) ?? []).map(([, code]) => Number(code));
      if (codes.join() !== "7007,7009")
        this.#problems.push(`stop ${stopNbr} has the completions ${codes.join()}`);
    }
  }

  async #checkDeliveries(): Promise<void> {
    const text = `select d.guid, d.name, d.state, d.sha256, t.name, code, fault_text from deliveries d
      join outbound_targets t on t.id = d.target_id join companies c on c.id = d.company_id
      where d.name like lower(${this.#pattern}) order by d.id`;
    const rows = (await this.#site.database.ask(text)).map((row) => row.map(String));
    this.verdict.deliveries = rows.length;
    const byId = Map.groupBy(this.#facts.posts, ({ headers }) => String(headers["x-dropgate-delivery"]));
    for (const [guid = "", name = "", state, sha256 = "", target, code = "", fault] of rows) {
      const about = `delivery ${name} to ${target} of ${code}`;
      if (state !== "delivered") this.#problems.push(`${about} is ${state} (${fault})`);
      else if (target === "outbound") this.#checkBytes(about, sha256, await this.#fileOf(code, name));
      else this.#checkPosts(about, sha256, byId.get(guid) ?? []);
    }
    const wanted = 4 * this.#facts.traffic.driven.flatMap(({ stopNbrs }) => stopNbrs).length;
    if (rows.length !== wanted) this.#problems.push(`${rows.length} deliveries instead of ${wanted}`);
  }

  #checkPosts(about: string, sha256: string, posts: readonly Post[]): void {
    if (posts.length === 0) this.#problems.push(`${about} never came`);
    this.verdict.deliveredAgain += Math.max(0, posts.length - 1);
    for (const { body } of posts) this.#checkBytes(about, sha256, body);
  }

  #checkBytes(about: string, sha256: string, bytes: Uint8Array | undefined): void {
    const found = bytes === undefined ? "nothing" : createHash("sha256").update(bytes).digest("hex");
    if (found !== sha256) this.#problems.push(`${about} has the bytes ${found} instead of ${sha256}`);
  }

  #fileOf(code: string, name: string): Promise<Uint8Array | undefined> {
    return bytesIfThere(this.#site.path(code, "outbound", name));
  }
}

/** When everything is settled. */
export async function checkRound(site: ClusterSite, facts: RoundFacts): Promise<Verdict> {
  const check = new RoundCheck(site, facts);
  await check.run();
  return check.verdict;
}

/** Whether each completion is in exactly one export of its company; `outbound/` has their folders, each with its manifest. */
export async function checkExports(site: ClusterSite): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { code } of site.companies) {
    const folder = site.path(code, "outbound");
    const all = await readdir(folder, { recursive: true });
    const manifests = all.filter((path) => path.endsWith("/manifest.xml"));
    const texts = await Promise.all(manifests.map((path) => readFile(`${folder}/${path}`, "utf8")));
    const exported = texts
      .flatMap((manifest) => [...manifest.matchAll(/<FileName>([^<]+)</g)])
      .map(([, name]) => String(name));
    const text = `select completions.name from completions join companies on companies.id = company_id where code = '${code}'`;
    const completed = (await site.database.ask(text)).map(([name]) => String(name));
    const counts = Map.groupBy(exported, (name) => name);
    for (const name of completed) {
      const times = counts.get(name)?.length ?? 0;
      if (times !== 1) problems.push(`completion ${name} of ${code} is in ${times} exports`);
    }
    if (exported.length > completed.length) problems.push(`exports of ${code} have more than there is`);
  }
  return problems;
}
