/** Jobs that wait, company by company in turn, so that one that sends much does not hold up the others. */
export interface Queued {
  readonly companyCode: string;
}

export class JobQueue<Job extends Queued> {
  /** By company, in the order of their turns; no list is empty. */
  readonly #waiting = new Map<string, Job[]>();

  get size(): number {
    let size = 0;
    for (const jobs of this.#waiting.values()) size += jobs.length;
    return size;
  }

  add(job: Job): void {
    const jobs = this.#waiting.get(job.companyCode);
    if (jobs === undefined) this.#waiting.set(job.companyCode, [job]);
    else jobs.push(job);
  }

  /** The next job of a company that may have one; its turn comes again behind all others. */
  take(mayHave: (companyCode: string) => boolean = () => true): Job | undefined {
    for (const [companyCode, jobs] of this.#waiting) {
      if (!mayHave(companyCode)) continue;
      const job = jobs.shift();
      this.#waiting.delete(companyCode);
      if (jobs.length > 0) this.#waiting.set(companyCode, jobs);
      return job;
    }
    return undefined;
  }

  /** Jobs of one company, as many as `most` says of those that wait; its turn comes again behind all others. */
  takeSome(most: (waiting: number) => number, mayHave: (companyCode: string) => boolean = () => true): Job[] {
    for (const [companyCode, jobs] of this.#waiting) {
      if (!mayHave(companyCode)) continue;
      const taken = jobs.splice(0, most(jobs.length));
      this.#waiting.delete(companyCode);
      if (jobs.length > 0) this.#waiting.set(companyCode, jobs);
      return taken;
    }
    return [];
  }

  /** Jobs that were taken and not done go before the others of their companies. */
  putBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      const waiting = this.#waiting.get(job.companyCode);
      if (waiting === undefined) this.#waiting.set(job.companyCode, [job]);
      else waiting.unshift(job);
    }
  }

  /** Whether a company that may have one waits for it. */
  has(mayHave: (companyCode: string) => boolean): boolean {
    for (const companyCode of this.#waiting.keys()) if (mayHave(companyCode)) return true;
    return false;
  }

  remove(job: Job): void {
    const jobs = this.#waiting.get(job.companyCode) ?? [];
    const at = jobs.indexOf(job);
    if (at === -1) return;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(job.companyCode);
  }
}
