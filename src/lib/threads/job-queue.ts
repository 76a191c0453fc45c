/** Waiting jobs, company by company in turn, so that one that sends much does not block the others. */
export interface Queued {
  readonly companyCode: string;
  /** Jobs of a company that need not wait for each other are in lines of different names, which take turns. */
  readonly line?: string;
}

/** Lines of one company, in the order of their turns; no list is empty. */
type Lines<Job> = Map<string, Job[]>;

export class JobQueue<Job extends Queued> {
  /** By company, in the order of their turns; none is without lines. */
  readonly #waiting = new Map<string, Lines<Job>>();

  get size(): number {
    let size = 0;
    for (const lines of this.#waiting.values()) for (const jobs of lines.values()) size += jobs.length;
    return size;
  }

  add(job: Job): void {
    this.#lineOf(job).push(job);
  }

  /** The next job of a line whose first one may be taken; its turn comes again behind all others. */
  take(isOpen: (first: Job) => boolean = () => true): Job | undefined {
    return this.takeSome(() => 1, isOpen)[0];
  }

  /** Jobs of one line, as many as `most` says of those that wait; its turn comes again behind all others. */
  takeSome(most: (waiting: readonly Job[]) => number, isOpen: (first: Job) => boolean = () => true): Job[] {
    for (const lines of this.#waiting.values()) {
      for (const jobs of lines.values()) {
        const [first] = jobs;
        if (first === undefined || !isOpen(first)) continue;
        const taken = jobs.splice(0, most(jobs));
        this.#toTheEnd(first, lines, jobs);
        return taken;
      }
    }
    return [];
  }

  /** Jobs that were taken and not done go before the others of their lines. */
  putBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) this.#lineOf(job).unshift(job);
  }

  /** Whether there is a line whose first job may be taken. */
  has(isOpen: (first: Job) => boolean): boolean {
    for (const lines of this.#waiting.values())
      for (const [first] of lines.values()) if (first !== undefined && isOpen(first)) return true;
    return false;
  }

  remove(job: Job): void {
    const lines = this.#waiting.get(job.companyCode);
    const jobs = lines?.get(job.line ?? "");
    const at = jobs?.indexOf(job) ?? -1;
    if (lines === undefined || jobs === undefined || at === -1) return;
    jobs.splice(at, 1);
    if (jobs.length > 0) return;
    lines.delete(job.line ?? "");
    if (lines.size === 0) this.#waiting.delete(job.companyCode);
  }

  #lineOf({ companyCode, line = "" }: Job): Job[] {
    const lines: Lines<Job> = this.#waiting.get(companyCode) ?? new Map<string, Job[]>();
    this.#waiting.set(companyCode, lines);
    const jobs = lines.get(line) ?? [];
    lines.set(line, jobs);
    return jobs;
  }

  /** The line behind the others of its company, and the company behind all others; what is empty goes. */
  #toTheEnd({ companyCode, line = "" }: Job, lines: Lines<Job>, jobs: Job[]): void {
    lines.delete(line);
    if (jobs.length > 0) lines.set(line, jobs);
    this.#waiting.delete(companyCode);
    if (lines.size > 0) this.#waiting.set(companyCode, lines);
  }
}
