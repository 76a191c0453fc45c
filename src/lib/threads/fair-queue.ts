/**
 * Jobs that wait for a few threads or processes, company by company in turn; while several companies send jobs, none of them
 * holds all places.
 */
import type { Clock } from "../clock.ts";
import { CompanyShares } from "../company-shares.ts";
import { JobQueue, type Queued } from "./job-queue.ts";

export class FairQueue<Job extends Queued> {
  readonly #jobs = new JobQueue<Job>();
  readonly #shares: CompanyShares;
  readonly #mayHave = ({ companyCode }: Job): boolean => this.#shares.mayHaveAnother(companyCode);

  /** For so many threads or processes. */
  constructor(clock: Clock, places: number) {
    this.#shares = new CompanyShares(clock, places);
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Whether there is a job that may be taken. */
  get isReady(): boolean {
    return this.#jobs.has(this.#mayHave);
  }

  add(job: Job): void {
    this.#shares.came(job.companyCode);
    this.#jobs.add(job);
  }

  /** The next job that may be taken; it holds a place until it is done. */
  take(): Job | undefined {
    const job = this.#jobs.take(this.#mayHave);
    if (job !== undefined) this.#shares.took(job.companyCode);
    return job;
  }

  /** A job that was taken holds its place no more. */
  done({ companyCode }: Job): void {
    this.#shares.gaveBack(companyCode);
  }

  /** Takes back one that waits. */
  remove(job: Job): void {
    this.#jobs.remove(job);
  }

  /** Rejects all that wait. */
  rejectAll(reject: (job: Job) => void): void {
    for (let job = this.#jobs.take(); job !== undefined; job = this.#jobs.take()) reject(job);
  }
}
