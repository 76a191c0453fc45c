/** Targets and remotes that fail again and again, long before an alert tells it. */
import { remoteSettingsOf } from "../../../config/company-settings.ts";
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import type { FailingPlace } from "../../../endpoints/http/console/live/standing.ts";
import { listRemoteStates } from "../../../store/ledger/remote-states.ts";
import { listOldestOpen, listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";
import { findOpenFault } from "../../../store/outbound/target-counts.ts";
import { moveOfFault } from "../../admin/fault-remedies.ts";
import type { QueryContext } from "../query-context.ts";

/** Less is a hiccup, after which the next attempt goes well. */
const fewFailures = 3;

interface FailingOf extends FailingPlace {
  readonly companyId: number;
}

async function failingTargets({ read }: Pick<QueryContext, "read">): Promise<readonly FailingOf[]> {
  const waitedFor = await listOldestOpen(read);
  const failing = (await listOutboundTargets(read)).filter(
    ({ id, name, failures }) =>
      failures >= fewFailures && waitedFor.has(id) && alertWayOf(name) === undefined,
  );
  const found: FailingOf[] = [];
  for (const { id, companyId, name, failures } of failing) {
    const move = moveOfFault((await findOpenFault(read, id))?.fault);
    found.push({ kind: "target", companyId, name, failures, move });
  }
  return found;
}

/** The failing places of a company by its id and code; a remote that is not in the configuration any more is none. */
export async function failingPlaces(
  context: Pick<QueryContext, "read" | "config">,
): Promise<(company: { readonly id: number; readonly code: string }) => readonly FailingPlace[]> {
  const targets = await failingTargets(context);
  const states = (await listRemoteStates(context.read)).filter(({ failures }) => failures >= fewFailures);
  return ({ id, code }) => {
    const configured = remoteSettingsOf(context.config, code);
    const remotes = states
      .filter(({ companyId, remote }) => companyId === id && configured.has(remote))
      .map(({ remote: name, failures, fault }) => ({
        ...{ kind: "remote" as const, name, failures, move: moveOfFault(fault) },
      }));
    const own = targets.filter(({ companyId }) => companyId === id);
    return [...own.map(({ companyId: _, ...place }) => place), ...remotes];
  };
}
