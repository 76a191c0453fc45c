/** The companies of which a part of the background work has begun here. Where one process has all for ever, that is all. */
import { randomBytes } from "node:crypto";

interface OfCompany {
  readonly companyId: number;
}

function newRunId(): string {
  return randomBytes(6).toString("hex");
}

export class TakenCompanies {
  /** With the run of each. */
  readonly #runs: Map<number, string> | undefined;
  readonly #run = newRunId();
  /** The answers to lists, until a company comes or goes. */
  #answers = new WeakMap<readonly OfCompany[], readonly OfCompany[]>();

  /** `isSole`: this process has all companies for ever. */
  constructor({ isSole }: { readonly isSole: boolean }) {
    this.#runs = isSole ? undefined : new Map();
  }

  /** Undefined: all that there are. */
  get all(): ReadonlySet<number> | undefined {
    return this.#runs === undefined ? undefined : new Set(this.#runs.keys());
  }

  /** Marks what is made for the company until it is left, in names of temporary files. */
  runIdOf(companyId: number): string {
    return this.#runs?.get(companyId) ?? this.#run;
  }

  has(companyId: number): boolean {
    return this.#runs === undefined || this.#runs.has(companyId);
  }

  take(companyId: number): void {
    this.#runs?.set(companyId, newRunId());
    this.#answers = new WeakMap();
  }

  leave(companyId: number): void {
    this.#runs?.delete(companyId);
    this.#answers = new WeakMap();
  }

  /** Those of the list that are of these companies: the very same answer for the same list, until a company comes or goes. */
  of<Row extends OfCompany>(list: readonly Row[]): readonly Row[] {
    if (this.#runs === undefined) return list;
    const known = this.#answers.get(list) as readonly Row[] | undefined;
    if (known !== undefined) return known;
    const answer = list.filter(({ companyId }) => this.has(companyId));
    this.#answers.set(list, answer);
    return answer;
  }
}
