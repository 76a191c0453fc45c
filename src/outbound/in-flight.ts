/**
 * The deliveries of a target that are being tried or recorded, one at a time of each line. A delivery is in flight from its
 * taking until its outcome is durable, so that no page gives it twice; so is its line, because somebody may ask for an
 * earlier delivery of it meanwhile, which then waits too.
 */
import type { DeliveryHead } from "../store/outbound/delivery-heads.ts";

type Row = Pick<DeliveryHead, "id" | "orderKey">;

export class InFlight {
  readonly #ids = new Set<number>();
  /** By line: whether another delivery of it was wanted meanwhile. */
  readonly #lines = new Map<string, boolean>();
  /** How often in a row a delivery has found its name taken. */
  readonly #moves = new Map<number, number>();

  get ids(): ReadonlySet<number> {
    return this.#ids;
  }

  /** False when another one of its line is in flight. */
  take({ id, orderKey }: Row): boolean {
    const isFree = !this.#lines.has(orderKey);
    this.#lines.set(orderKey, !isFree);
    if (isFree) this.#ids.add(id);
    return isFree;
  }

  /** Whether another one of its line was wanted meanwhile: the runner asks for it again. */
  release({ id, orderKey }: Row): boolean {
    const isWanted = this.#lines.get(orderKey) === true;
    this.#lines.delete(orderKey);
    this.#ids.delete(id);
    return isWanted;
  }

  movesOf({ id }: Row): number {
    return this.#moves.get(id) ?? 0;
  }

  noteMove(row: Row, hasMoved: boolean): void {
    if (hasMoved) this.#moves.set(row.id, this.movesOf(row) + 1);
    else this.#moves.delete(row.id);
  }
}
