/** Mappings that wait, company by company in turn, so that one that sends much does not hold up the others. */
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

  /** The next job; its company's turn comes again behind all others. */
  take(): Job | undefined {
    const [entry] = this.#waiting;
    if (entry === undefined) return undefined;
    const [companyCode, jobs] = entry;
    const job = jobs.shift();
    this.#waiting.delete(companyCode);
    if (jobs.length > 0) this.#waiting.set(companyCode, jobs);
    return job;
  }

  remove(job: Job): void {
    const jobs = this.#waiting.get(job.companyCode) ?? [];
    const at = jobs.indexOf(job);
    if (at === -1) return;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(job.companyCode);
  }
}
