/** The self-check again and again, while the daemon runs. */
import type { Logger } from "../../lib/logs/log.ts";
import type { Health } from "./health.ts";
import type { SystemdNotifier } from "./systemd-notify.ts";

const usualEveryMs = 15_000;
/** What failed is looked at again so soon: balancers send nothing here until it is known to be over. */
const againMs = 1_000;

/** Feeds the watchdog only while the daemon is fine. To be called to end it. */
export function startSelfChecks(
  health: Pick<Health, "refresh" | "wantsRestart">,
  systemd: Pick<SystemdNotifier, "notify" | "watchdogIntervalMs">,
  log: Pick<Logger, "info" | "error">,
): () => void {
  let isChecking = false;
  let isOver = false;
  let again: NodeJS.Timeout | undefined;
  let told = "";

  async function check({ isAgain }: { readonly isAgain: boolean }): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    clearTimeout(again);
    const failures = await health.refresh();
    const isFed = !health.wantsRestart();
    const text = failures.join("; ");
    if (text !== "" && (!isAgain || text !== told)) log.error({ failures, isFed }, "self-check failed");
    if (text === "" && told !== "") log.info("the self-check is fine again");
    told = text;
    // A full disk is no reason to be restarted: reads and receipts go on meanwhile.
    if (isFed && systemd.watchdogIntervalMs !== undefined) await systemd.notify("WATCHDOG=1");
    isChecking = false;
    if (text !== "" && !isOver) again = setTimeout(() => void check({ isAgain: true }), againMs);
  }

  const everyMs = systemd.watchdogIntervalMs ?? usualEveryMs;
  const timer = setInterval(() => void check({ isAgain: false }), everyMs);
  return () => {
    isOver = true;
    clearInterval(timer);
    clearTimeout(again);
  };
}
