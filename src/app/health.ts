/** Whether the daemon works, as `/readyz` and systemd's watchdog are told. */
import { runSelfCheck, type SelfCheckDependencies } from "./self-check.ts";

export interface HealthState {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
}

export interface Health {
  /** The outcome of the last self-check. */
  current(): HealthState;
  /** Runs the self-check; gives the names and messages of what failed. */
  refresh(): Promise<readonly string[]>;
  /** Whether the last self-check found a fault that a restart can mend. */
  wantsRestart(): boolean;
  /** From now on the self-check connects to this as well. */
  watch(name: string, host: string, port: number): void;
  setStopping(): void;
}

/** Keeps the outcome of the last self-check; not ready before the first and from the stop on. */
export function createHealth(deps: Omit<SelfCheckDependencies, "listeners">): Health {
  const listeners: { name: string; host: string; port: number }[] = [];
  let checks: Readonly<Record<string, boolean>> = {};
  let isFine = false;
  let wantsRestart = false;
  let isStopping = false;
  return {
    current: () => ({ isReady: isFine && !isStopping, checks }),
    async refresh() {
      const results = await runSelfCheck({ ...deps, listeners: () => listeners });
      checks = Object.fromEntries(results.map(({ name, isFine: fine }) => [name, fine]));
      wantsRestart = results.some((result) => !result.isFine && result.isOfSurroundings !== true);
      isFine = results.every(({ isFine: fine }) => fine);
      return results
        .filter((result) => !result.isFine)
        .map(({ name, message }) => `${name}: ${message ?? "failed"}`);
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
