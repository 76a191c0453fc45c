import { vi } from "vitest";
import { patienceMs } from "./wait-for.ts";

/** Makes the check again and again until it passes; gives what it returns. Throws its last error when the patience is over. */
export function waitToPass<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: patienceMs, interval: 10 });
}
