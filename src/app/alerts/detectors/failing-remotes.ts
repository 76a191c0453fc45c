import { remoteSettingsOf } from "../../../config/company-settings.ts";
import { given } from "../../../lib/given.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { listRemoteStates } from "../../../store/ledger/remote-states.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** Remotes of the company's configuration that have failed so often in a row, each by its name. */
export const detectFailingRemotes: Detector<"failingRemote"> = async ({
  subject,
  settings,
  read,
  sources,
}) => {
  const configured = remoteSettingsOf(sources.config(), subject.code);
  if (configured.size === 0) return [];
  const failing = (await listRemoteStates(read)).filter(
    ({ companyId, remote, failures }) =>
      companyId === subject.id && configured.has(remote) && failures >= settings.failures,
  );
  return failing.map(({ remote, failures, succeededAt, fault, faultText }) => {
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
  });
};
