import { isoTime } from "../../../lib/iso-time.ts";
import { findLastVerification } from "../../../store/database/last-verification.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** The last verification has found discrepancies. */
export const detectLedgerDiscrepancy: Detector<"ledgerDiscrepancy"> = async ({ read }) => {
  const last = await findLastVerification(read);
  if (last === undefined || last.discrepancies === 0) return [];
  const { at, discrepancies } = last;
  const found = counted(discrepancies, "discrepancy", "discrepancies");
  const summary = `the verification of ${isoTime(at)} has found ${found} between ledger and files`;
  return [{ cause: "", summary, count: discrepancies, since: at, samples: [] }];
};
