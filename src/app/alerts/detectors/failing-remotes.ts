import { remoteSettingsOf } from "../../../config/company-settings.ts";
import type { Finding } from "../../../domain/alerts/incident.ts";
import { dayMs } from "../../../lib/durations.ts";
import { given } from "../../../lib/given.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { listRemoteStates } from "../../../store/ledger/remote-states.ts";
import { type HandPause, listHandPauses } from "../../../store/outbound/hand-pauses.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** Whoever pauses a remote for longer may have forgotten it. */
const longPauseMs = dayMs;

function pauseFinding({ name, pausedBy, pausedAt, reason }: HandPause, code: string): Finding {
  return {
    cause: name,
    summary: `the remote ${name} is paused by ${pausedBy} since ${isoTime(pausedAt)}: nothing is fetched from it`,
    count: 1,
    since: pausedAt,
    samples: [reason],
    remedy: `\`dropgate remote resume ${name} --company ${code}\` when it may go on`,
  };
}

/**
 * Remotes of the company's configuration that have failed so often in a row, and those that somebody has paused for a day,
 * each by its name. A pause alone opens nothing before; an incident that is open stays so, as still nothing is fetched.
 */
export const detectFailingRemotes: Detector<"failingRemote"> = async ({
  subject,
  settings,
  read,
  sources,
  now,
  open,
}) => {
  const configured = remoteSettingsOf(sources.config(), subject.code);
  if (configured.size === 0) return [];
  const paused = (await listHandPauses(read)).filter(
    ({ kind, companyId, name }) => kind === "remote" && companyId === subject.id && configured.has(name),
  );
  const isPaused = (remote: string) => paused.some(({ name }) => name === remote);
  const failing = (await listRemoteStates(read)).filter(
    ({ companyId, remote, failures }) =>
      companyId === subject.id &&
      configured.has(remote) &&
      !isPaused(remote) &&
      failures >= settings.failures,
  );
  const told = paused.filter(({ name, pausedAt }) => open.has(name) || now - pausedAt >= longPauseMs);
  return [
    ...told.map((pause) => pauseFinding(pause, subject.code)),
    ...failing.map(({ remote, failures, succeededAt, fault, faultText }) => {
      const last =
        succeededAt === null ? "it has never succeeded" : `it last succeeded ${isoTime(succeededAt)}`;
      const sample = [fault, faultText].filter((text) => text !== null).join(": ");
      return {
        cause: remote,
        summary: `the remote ${remote} has failed ${counted(failures, "time")} in a row; ${last}`,
        count: failures,
        samples: sample === "" ? [] : [sample],
        remedy:
          "`dropgate remote list` shows the fault, and `dropgate check --remote` tries the server; mend it, then " +
          `\`dropgate remote retry ${remote}\` fetches at once`,
        ...given({ since: succeededAt ?? undefined }),
      };
    }),
  ];
};
