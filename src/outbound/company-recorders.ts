/** The recorders of outcomes, one for each company, from its first outcome until its work ends here. */
import { OutcomeRecorder, type RecorderDeps } from "./outcome-recorder.ts";

export class CompanyRecorders {
  readonly #deps: Omit<RecorderDeps, "companyId">;
  readonly #recorders = new Map<number, OutcomeRecorder>();

  constructor(deps: Omit<RecorderDeps, "companyId">) {
    this.#deps = deps;
  }

  of(companyId: number): OutcomeRecorder {
    const known = this.#recorders.get(companyId);
    if (known !== undefined) return known;
    const made = new OutcomeRecorder({ ...this.#deps, companyId });
    this.#recorders.set(companyId, made);
    return made;
  }

  /** From now on gives up what cannot be written by the deadline: that of one company, or of all. */
  endBy(deadline: AbortSignal, companyId?: number): void {
    for (const [id, recorder] of this.#recorders)
      if (companyId === undefined || id === companyId) recorder.endBy(deadline);
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.idle()));
  }

  /** Forgets that of the company when nothing waits in it any more: it ends by the deadline that `endBy` was given. */
  async end(companyId: number): Promise<void> {
    await this.#recorders.get(companyId)?.idle();
    this.#recorders.delete(companyId);
  }
}
