/** Why a waiting file does not go on. */

/**
 * Why a file is parked: its bytes cannot be read; it is cut off at its end; this machine lacks descriptors or memory; the
 * store cannot be read or written; deciding about it fails for a reason of our own.
 */
export type StallReason = "unreadable" | "incomplete" | "machine" | "store" | "internal";

export interface Stall {
  readonly reason: StallReason;
  readonly message: string;
  /** When it began, on the clock of `performance.now()`. */
  readonly since: number;
}

/** Those for which this installation is at fault, and not the file: such files are held as long as it takes. */
export function isOwnFault(reason: StallReason): boolean {
  return reason === "store" || reason === "machine";
}
