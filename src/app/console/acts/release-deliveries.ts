/** Lets deliveries go out that are held since a restore: the daemon sees it within a second. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import type { Seen } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { given } from "../../../lib/given.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { releaseHeld } from "../../admin/release-admin.ts";
import type { RunningAct } from "../running-act.ts";
import { endChanged } from "./one-subject.ts";

const subject = auditSubjectText({ kind: "heldDeliveries" });

export async function releaseHeldDeliveries(
  act: RunningAct,
  { seenAt }: Seen,
): Promise<{ readonly targets: number }> {
  const released = await act.unit(async (tx, note) => {
    const held = await releaseHeld(tx);
    if (held === undefined) return undefined;
    const { hold, targets } = held;
    const before = { ...given({ backup: hold.backup }), restoredAt: isoTime(hold.restoredAt) };
    note({ subject, before, after: { released: targets } });
    return { targets: targets.length };
  });
  if (released !== undefined) return released;
  await endChanged(act, { subject, seenAt }, actWords.release.notHeld);
  return { targets: 0 };
}
