/**
 * What went wrong with the store, whatever database it is. The dialect translates its driver's errors into this once.
 *
 *   busy          another process writes at this moment: the same call can succeed soon
 *   unavailable   disk full, read-only, a disk error, closed: nobody can write until an administrator has seen to it
 *   damaged       the database is not what it was written as; it does not mend itself
 *   unfit         the statement does not fit the schema: program and database do not belong together
 *   refused       the values are wrong (a constraint, a size): trying again is useless
 *
 * All but `refused` are faults of the store: they say nothing about what was to be written, which is kept and tried again.
 */
export const storeErrorKinds = ["busy", "unavailable", "damaged", "unfit", "refused"] as const;

export type StoreErrorKind = (typeof storeErrorKinds)[number];

export class StoreError extends Error {
  readonly kind: StoreErrorKind;

  constructor(kind: StoreErrorKind, message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreError";
    this.kind = kind;
  }
}

/** Whether the store is at fault, and not the values to be written: these are held, never refused. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof StoreError && error.kind !== "refused";
}

/** For `catch` of a promise: undefined for a fault of the store; every other error is thrown. */
export function unlessStoreFault(error: unknown): undefined {
  if (!isStoreFault(error)) throw error;
  return undefined;
}

/** Whether the fault passes when disk or other processes allow it, without a repair of the database. */
export function isPassingStoreError(error: unknown): boolean {
  return error instanceof StoreError && (error.kind === "busy" || error.kind === "unavailable");
}

/** Whether the database is damaged. */
export function isStoreDamaged(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "damaged";
}

/** Whether another process blocked the database for a moment. */
export function isStoreBusy(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "busy";
}

/** The remedy for each, as the log, `/readyz` and `check` print it. */
export const storeRemedies: Readonly<Record<StoreErrorKind, string>> = {
  busy: "end the other program that writes to the database",
  unavailable:
    "check the disk of the state directory: free space, its health, and whether it can be written; or the server of PostgreSQL, if `store` names one",
  damaged:
    "stop dropgate, check the disk, and restore the database from the last backup (docs/operations.md, A damaged database)",
  unfit: "start the version of dropgate that this database belongs to; `dropgate check` compares them",
  refused: "report it with the lines of the log",
};
