import type { ClientLog } from "../../exchange/connections/client-log.ts";
import { mismatchOf } from "./algorithms.ts";
import { type ClientOffer, isForOneHostKeyType } from "./client-offer.ts";

/** Reports that a client offers no algorithm of ours, and the remedy. False when it does offer one of each kind. */
export function reportMismatch(log: ClientLog, offer: ClientOffer): boolean {
  const mismatch = mismatchOf(offer);
  if (mismatch === undefined) return false;
  const { identification } = offer;
  const { offered, wouldLegacyDo } = mismatch;
  const remedy = wouldLegacyDo
    ? "sftp.legacyAlgorithms: true would accept it"
    : "not even sftp.legacyAlgorithms would accept it";
  const lacksHostKeyAlone = Object.keys(offered).join() === "host key";
  if (lacksHostKeyAlone && isForOneHostKeyType(offer)) {
    // So does ssh-keyscan, with a connection for each type there may be: most of them have to fail.
    const line = { identification, offered, ...(wouldLegacyDo ? { remedy } : {}) };
    log.report("info", line, "sftp client accepts a single type of host key, not in use here");
    return true;
  }
  const line = { identification, offered, remedy };
  log.report("warn", line, `sftp client offers no algorithm that this server accepts; ${remedy}`);
  return true;
}
