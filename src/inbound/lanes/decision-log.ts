import { reasonCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { DecidedFile } from "./decide-file.ts";
import type { WaitingFile } from "./waiting-file.ts";

const shownReasons = 5;

/** The one line about a decided file; `ms` is the time since it was received. */
export function logDecision(
  log: Logger,
  decided: DecidedFile,
  about: { readonly file: WaitingFile; readonly company: string; readonly ms: number },
): void {
  const { file, company, ms } = about;
  const fields = {
    fileId: decided.id,
    company,
    file: file.name,
    state: decided.state,
    channel: file.channel,
    user: file.userName ?? undefined,
    ms,
  };
  if (decided.faults.length === 0) {
    log.info(fields, "file decided");
    return;
  }
  const reasons = decided.faults.slice(0, shownReasons).map(({ code }) => reasonCodeOf(code));
  log.warn({ ...fields, reasons, first: decided.faults[0]?.message }, "file refused");
}
