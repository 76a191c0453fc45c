/**
 * How many of some processes or threads one company may hold at a time: all but one while other companies send bodies for
 * them too, so that whoever comes finds one free, or one that is not in the same hands; all of them while it is alone.
 *
 * Whether others are there is known by who has sent a body during the last minutes: at the moment when one comes it is too
 * late, for a body in hand is not taken back.
 */
import type { Clock } from "./clock.ts";
import { minuteMs } from "./durations.ts";

/** How long a company counts as there after its last body. */
const presenceMs = 10 * minuteMs;
/** A list of companies that is longer is checked for those that have gone. */
const maxKept = 100;

export class CompanyShares {
  readonly #clock: Clock;
  readonly #places: number;
  /** When a body of each company last came, the latest at the end. */
  readonly #lastBodyAt = new Map<string, number>();
  readonly #held = new Map<string, number>();

  constructor(clock: Clock, places: number) {
    this.#clock = clock;
    this.#places = places;
  }

  /** A body of the company has come. */
  came(companyCode: string): void {
    this.#lastBodyAt.delete(companyCode);
    this.#lastBodyAt.set(companyCode, this.#clock.now());
    if (this.#lastBodyAt.size > maxKept) this.#forgetGone();
  }

  mayHaveAnother(companyCode: string): boolean {
    const held = this.#held.get(companyCode) ?? 0;
    return held === 0 || held < this.#places - (this.#othersAreThere(companyCode) ? 1 : 0);
  }

  took(companyCode: string): void {
    this.#held.set(companyCode, (this.#held.get(companyCode) ?? 0) + 1);
  }

  gaveBack(companyCode: string): void {
    const left = (this.#held.get(companyCode) ?? 1) - 1;
    if (left > 0) this.#held.set(companyCode, left);
    else this.#held.delete(companyCode);
  }

  #othersAreThere(companyCode: string): boolean {
    const since = this.#clock.now() - presenceMs;
    for (const [other, at] of this.#lastBodyAt) if (other !== companyCode && at > since) return true;
    return false;
  }

  #forgetGone(): void {
    const since = this.#clock.now() - presenceMs;
    for (const [companyCode, at] of this.#lastBodyAt) {
      if (at > since) break;
      this.#lastBodyAt.delete(companyCode);
    }
  }
}
