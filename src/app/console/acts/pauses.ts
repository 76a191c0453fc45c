/** Targets and remotes that somebody pauses until somebody resumes them: the daemon sees it within a second. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import type { NamedAsked } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import {
  type HandPause,
  pauseByHand,
  type PausedThing,
  resumeByHand,
} from "../../../store/outbound/hand-pauses.ts";
import { companyOf, type RunningAct } from "../running-act.ts";
import { endChanged } from "./one-subject.ts";
import { requireRemote } from "./poll-remote.ts";
import { requireTarget } from "./retry-target.ts";

type Kind = HandPause["kind"];

async function requireThing(
  act: RunningAct,
  tx: Transaction,
  kind: Kind,
  name: string,
): Promise<PausedThing> {
  const companyId = companyOf(act);
  if (kind === "remote") await requireRemote(act, tx, name);
  else await requireTarget(tx, { companyId, name });
  return { companyId, kind, name };
}

function told({ pausedBy, pausedAt, reason }: HandPause) {
  return { pausedBy, pausedAt: isoTime(pausedAt), reason };
}

async function pause(act: RunningAct, { name, seenAt }: NamedAsked, kind: Kind): Promise<undefined> {
  const subject = auditSubjectText({ kind, name });
  const before = await act.unit(async (tx, note) => {
    const thing = await requireThing(act, tx, kind, name);
    const { userName: pausedBy } = act.by.user;
    const made = { ...thing, pausedAt: act.now, pausedBy, reason: act.by.reason };
    const known = await pauseByHand(tx, made);
    if (known === undefined) note({ subject, after: told(made) });
    return known;
  });
  if (before !== undefined)
    await endChanged(
      act,
      { subject, seenAt },
      actWords.pause.isPaused(before.pausedBy, isoTime(before.pausedAt)),
    );
  return undefined;
}

async function resume(act: RunningAct, { name, seenAt }: NamedAsked, kind: Kind): Promise<undefined> {
  const subject = auditSubjectText({ kind, name });
  const isEnded = await act.unit(async (tx, note) => {
    const ended = await resumeByHand(tx, await requireThing(act, tx, kind, name));
    if (ended !== undefined) note({ subject, before: told(ended) });
    return ended !== undefined;
  });
  if (!isEnded) await endChanged(act, { subject, seenAt }, actWords.pause.notPaused);
  return undefined;
}

export function pauseTarget(act: RunningAct, asked: NamedAsked): Promise<undefined> {
  return pause(act, asked, "target");
}

/** A target that failed before is tried when its own pause is over. */
export function resumeTarget(act: RunningAct, asked: NamedAsked): Promise<undefined> {
  return resume(act, asked, "target");
}

export function pauseRemote(act: RunningAct, asked: NamedAsked): Promise<undefined> {
  return pause(act, asked, "remote");
}

export function resumeRemote(act: RunningAct, asked: NamedAsked): Promise<undefined> {
  return resume(act, asked, "remote");
}
