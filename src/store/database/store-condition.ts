/** The condition of the store since the start: its faults by kind, and whether it is damaged, which does not pass. */
import { StoreError, type StoreErrorKind } from "../../lib/store-error.ts";

export class StoreCondition {
  readonly #counts = new Map<StoreErrorKind, number>();
  readonly #listeners = new Set<(message: string) => void>();
  #damage: string | undefined;

  /** The damage, as the database reports it; undefined when none is known. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** How often each kind of fault occurred. */
  count(kind: StoreErrorKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** Counts whatever a statement threw. */
  note(error: unknown): void {
    if (!(error instanceof StoreError)) return;
    this.#counts.set(error.kind, this.count(error.kind) + 1);
    if (error.kind === "damaged") this.noteDamage(error.message);
  }

  /** Damage was found; the listeners are called once. It stays until the next start. */
  noteDamage(message: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = message;
    for (const listener of this.#listeners) listener(message);
  }

  onDamage(listener: (message: string) => void): void {
    this.#listeners.add(listener);
    if (this.#damage !== undefined) listener(this.#damage);
  }
}
