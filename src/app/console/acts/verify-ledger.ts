/** The ledger is verified at once; the page of health shows how far it is, and what came of it. */
import type { RunningAct } from "../running-act.ts";

export async function verifyLedgerNow(act: RunningAct): Promise<{ readonly isBegun: boolean }> {
  const { verification } = act.context.jobs;
  if (verification.isRunning) return { isBegun: false };
  // The row first: a crash between the two leaves a row whose verification never came to its end, as it did not.
  await act.unit(async (_tx, note) => note({ subject: "ledger" }));
  verification.begin();
  return { isBegun: true };
}
