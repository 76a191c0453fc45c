/** Remotes of companies: their last rounds, what they left alone, and why. */
import { remoteSettingsOf } from "../../../config/company-settings.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  RemotesFound,
  ShownRemote,
} from "../../../endpoints/http/console/pages/remotes/remotes-view.ts";
import type { UntakenOfRemote } from "../../../inbound/remotes/untaken-files.ts";
import { whyUntakenText } from "../../../inbound/explain/elsewhere-words.ts";
import { isPollAwaited, listRemoteStates, type RemoteState } from "../../../store/ledger/remote-states.ts";
import { type HandPause, listHandPauses } from "../../../store/outbound/hand-pauses.ts";
import { faultRemedies, moveOfFault } from "../../admin/fault-remedies.ts";
import { heldReportOf } from "./held-report-of.ts";
import type { QueryContext } from "../query-context.ts";

const shownFiles = 200;

interface About {
  readonly company: Scope["companies"][number];
  readonly name: string;
  readonly server: string;
  readonly state: RemoteState | undefined;
  readonly pause: HandPause | undefined;
  readonly untaken: UntakenOfRemote | undefined;
}

function shownOf({ company, name, server, state, pause, untaken }: About): ShownRemote {
  const fault = state?.fault ?? null;
  const files = (untaken?.files ?? []).slice(0, shownFiles).map((file) => ({
    name: file.name,
    size: file.size,
    why: whyUntakenText({
      ...{ ...file, company: company.code, remote: name, nextPollAt: untaken?.nextPollAt ?? 0 },
    }),
  }));
  return {
    ...{ company: company.code, name, server, files },
    more: (untaken?.more ?? 0) + Math.max(0, (untaken?.files.length ?? 0) - shownFiles),
    polledAt: state?.polledAt ?? null,
    succeededAt: state?.succeededAt ?? null,
    nextAt: untaken?.nextPollAt ?? null,
    failures: state?.failures ?? 0,
    restsUntil: state === undefined || state.failures === 0 ? null : state.pausedUntil,
    isAsked: state !== undefined && isPollAwaited(state),
    faultText: state?.faultText ?? null,
    remedy: Object.entries(faultRemedies).find(([known]) => known === fault)?.[1],
    move: moveOfFault(fault),
    pause: pause && { by: pause.pausedBy, at: pause.pausedAt, reason: pause.reason },
  };
}

export async function queryRemotes(context: QueryContext, scope: Scope): Promise<RemotesFound> {
  const { read, config } = context;
  const states = await listRemoteStates(read);
  const pauses = await listHandPauses(read);
  const report = await heldReportOf(context);
  const remotes: ShownRemote[] = [];
  for (const company of scope.companies) {
    const { id, code } = company;
    for (const [name, { type, host, directory }] of remoteSettingsOf(config, code)) {
      remotes.push(
        shownOf({
          ...{ company, name, server: `${type} ${host}, folder ${directory}` },
          state: states.find((one) => one.companyId === id && one.remote === name),
          pause: pauses.find((one) => one.kind === "remote" && one.companyId === id && one.name === name),
          untaken: report?.remotes.find((one) => one.company === code && one.remote === name),
        }),
      );
    }
  }
  return { remotes };
}
