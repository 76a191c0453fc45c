/** Whether the daemon works, for `/readyz` and systemd's watchdog. */
import type { Health as HealthState } from "../../endpoints/http/server/route.ts";
import type { Trouble } from "./troubles.ts";
import { runSelfCheck, type SelfCheckDependencies } from "./self-check.ts";

export interface Health {
  /** The outcome of the last self-check. */
  current(): HealthState;
  /** Runs the self-check; gives the names and messages of what failed. */
  refresh(): Promise<readonly string[]>;
  /** Whether the last self-check found a fault that a restart can repair. */
  wantsRestart(): boolean;
  /** From now on the self-check connects to this as well. */
  watch(name: string, host: string, port: number): void;
  setStopping(): void;
}

/** Keeps the outcome of the last self-check; not ready before the first and from the stop on. */
export function createHealth(
  deps: Omit<SelfCheckDependencies, "listeners"> & { readonly troubles: () => readonly Trouble[] },
): Health {
  const listeners: { name: string; host: string; port: number }[] = [];
  let checks: Readonly<Record<string, boolean>> = {};
  let failures: readonly string[] = [];
  let isFine = false;
  let wantsRestart = false;
  let isStopping = false;
  return {
    current() {
      const troubles = deps.troubles();
      const red = troubles.flatMap(({ check }) => (check === undefined ? [] : [[check, false] as const]));
      return {
        isReady: isFine && !isStopping && red.length === 0,
        checks: { ...checks, database: true, files: true, ...Object.fromEntries(red) },
        messages: [
          ...(isStopping ? ["dropgate is stopping"] : []),
          ...failures,
          ...troubles.map(({ message }) => message),
        ],
      };
    },
    async refresh() {
      const results = await runSelfCheck({ ...deps, listeners: () => listeners });
      checks = Object.fromEntries(results.map(({ name, isFine: fine }) => [name, fine]));
      wantsRestart = results.some((result) => !result.isFine && result.isOfSurroundings !== true);
      isFine = results.every(({ isFine: fine }) => fine);
      failures = results
        .filter((result) => !result.isFine)
        .map(({ name, message }) => `${name}: ${message ?? "failed"}`);
      return failures;
    },
    wantsRestart: () => wantsRestart,
    watch: (name, host, port) => {
      listeners.push({ name, host, port });
    },
    setStopping: () => {
      isStopping = true;
    },
  };
}
