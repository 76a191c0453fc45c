/**
 * States of a ledger entry.
 *
 *   waiting ──> applied | refused | duplicate | superseded        (decided: never changes again, but for `retry`)
 *   refused | superseded ── file retry ──> retry ──> waiting
 *
 * `retry` counts as waiting: received = applied + refused + duplicate + superseded + waiting.
 */
export const fileStates = ["waiting", "retry", "applied", "refused", "duplicate", "superseded"] as const;

export type FileState = (typeof fileStates)[number];

/** States in which an entry is still to be applied or refused. */
export const openStates = ["waiting", "retry"] as const satisfies readonly FileState[];

export type DecidedState = Exclude<FileState, (typeof openStates)[number]>;

/** Whether the receipt of such an entry says that nothing was applied. */
export function isRefusal(state: FileState): boolean {
  return state === "refused" || state === "superseded";
}

export function isFileState(text: string): text is FileState {
  return fileStates.some((state) => state === text);
}

/** Whether such an entry is decided. */
export function isDecidedState(state: FileState): state is DecidedState {
  return !isOpenState(state);
}

/** Whether such an entry is still to be decided. */
export function isOpenState(state: FileState): boolean {
  return openStates.some((open) => open === state);
}

export const decidedStates: readonly DecidedState[] = fileStates.filter(isDecidedState);
