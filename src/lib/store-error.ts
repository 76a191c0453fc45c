/**
 * What went wrong with the store, whatever database it is. The dialect translates its driver's errors into this once.
 *
 *   busy          another process writes at this moment: the same call can succeed soon
 *   unavailable   disk full, read-only, damaged, closed: nobody can write until an administrator has seen to it
 *   refused       the statement or its values are wrong: trying again is useless
 */
export type StoreErrorKind = "busy" | "unavailable" | "refused";

export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** Whether the same call can succeed when the store is well again. */
export function isPassingStoreError(error: unknown): boolean {
  return error instanceof StoreError && error.kind !== "refused";
}

/** Whether another process stood in the way for a moment. */
export function isStoreBusy(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "busy";
}
