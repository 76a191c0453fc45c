import { readdirSync, readlinkSync } from "node:fs";

/** Paths of all files and folders that this process holds open. */
export function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // Closed meanwhile, as the descriptor of this very listing.
    }
  });
}
