/**
 * Sends systemd the notifications of a `Type=notify` service, through systemd's own program: Node has no local datagram
 * sockets, and a native module for this alone would have to be compiled.
 */
import { spawn } from "node:child_process";
import type { Logger } from "../../lib/logs/log.ts";

export interface SystemdNotifier {
  /** Resolves when the message is sent; a failure is logged, for the daemon works without systemd too. */
  notify(...assignments: readonly string[]): Promise<void>;
  /** How often the watchdog expects a notification, or undefined when it expects none. */
  readonly watchdogIntervalMs: number | undefined;
}

const timeoutMs = 5_000;

function send(program: string, assignments: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [`--pid=${process.pid}`, ...assignments], {
      stdio: "ignore",
      timeout: timeoutMs,
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${code ?? signal}`));
    });
  });
}

/** Half of the time after which systemd gives up, so that one late notification does no harm. */
function watchdogInterval(env: NodeJS.ProcessEnv): number | undefined {
  const micros = Number(env["WATCHDOG_USEC"]);
  const isForUs = env["WATCHDOG_PID"] === undefined || Number(env["WATCHDOG_PID"]) === process.pid;
  return isForUs && micros > 0 ? Math.max(1000, Math.floor(micros / 2000)) : undefined;
}

/** Makes the notifier; without `NOTIFY_SOCKET` it does nothing. */
export function createSystemdNotifier(env: NodeJS.ProcessEnv, log: Logger): SystemdNotifier {
  const program = env["DROPGATE_SYSTEMD_NOTIFY"] ?? "systemd-notify";
  const isUnderSystemd = (env["NOTIFY_SOCKET"] ?? "") !== "";
  return {
    watchdogIntervalMs: isUnderSystemd ? watchdogInterval(env) : undefined,
    async notify(...assignments) {
      if (!isUnderSystemd) return;
      try {
        await send(program, assignments);
      } catch (error) {
        log.warn({ err: error, assignments }, "systemd could not be notified");
      }
    },
  };
}
