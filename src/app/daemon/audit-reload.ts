/** What a reload has changed, in the audit: who reads it there cannot read the configuration itself. */
import type { ShownSetting } from "../../config/reload.ts";
import { insertAudit } from "../../store/accounts/audit.ts";
import type { Parts } from "./daemon-parts.ts";

/** Of one that has more, the log names the rest. */
const mostSettings = 200;

/** Nothing for a reload that has changed nothing. A fault of the store is logged: the reload is done all the same. */
export async function auditReload(
  { store, clock, log }: Pick<Parts, "store" | "clock" | "log">,
  changes: readonly ShownSetting[],
): Promise<void> {
  if (changes.length === 0) return;
  const shown = changes.slice(0, mostSettings);
  const before = Object.fromEntries(shown.map((change) => [change.path, change.before]));
  const after = Object.fromEntries(shown.map((change) => [change.path, change.after]));
  const entry = { at: clock.now(), kind: "config.reload", subject: "configuration", before, after };
  try {
    await store.write("unowned", (tx) => insertAudit(tx, entry));
  } catch (error) {
    log.error({ err: error }, "what the reload has changed could not be written to the audit");
  }
}
