/** The filter by which commands select deliveries: the values of their options. */
import { type Companies, messagesConfigOf, outboundSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { alertWayOf } from "../../domain/alerts/audience.ts";
import { channelOfTarget } from "../../domain/messages/message-event.ts";
import { type DeliveryState, deliveryStates, isDeliveryState } from "../../domain/outbound/delivery-state.ts";
import { given } from "../../lib/given.ts";
import type { DeliverySelection } from "../../store/outbound/delivery-lists.ts";
import { listOutboundTargets, type OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import { companyFilter } from "./admin.ts";
import type { AdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface DeliveryFilter {
  readonly state?: string;
  readonly company?: string;
  readonly target?: string;
  /** Its number. */
  readonly stop?: string;
  /** From this moment on, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  /** With `*` and `?`. */
  readonly name?: string;
  /** Of the last attempt, as in `credentials`. */
  readonly fault?: string;
  /** A type of target, as in `sftp`. */
  readonly channel?: string;
  /** Who has fetched or removed the file. */
  readonly user?: string;
}

export type DeliveryConfig = Pick<Config, "stateDir" | "companies">;

function readState(state: string | undefined): DeliveryState | undefined {
  if (state === undefined || isDeliveryState(state)) return state;
  throw new WrongUseError(
    `${JSON.stringify(state)} is not a state of a delivery: use one of ${deliveryStates.join(", ")}`,
  );
}

/** Without this check a mistyped target would look like one that nothing is sent to. */
export async function readTarget(
  { read }: AdminStore,
  target: string | undefined,
): Promise<{ readonly target?: string }> {
  if (target === undefined) return {};
  const names = [...new Set((await listOutboundTargets(read)).map(({ name }) => name))];
  if (names.includes(target)) return { target };
  const known = names.length === 0 ? "none yet" : names.join(", ");
  throw new WrongUseError(`there is no target ${target}; there is ${known}`);
}

/** The type of a target by the configuration; undefined when that has it no more. */
function typeOfTarget(
  config: Companies,
  { companyCode, name }: Pick<OutboundTarget, "companyCode" | "name">,
): string | undefined {
  // Those of alerts have their type in their name, whoever is told now.
  const way = alertWayOf(name);
  if (way !== undefined) return way;
  const channel = channelOfTarget(name);
  if (channel === undefined) return outboundSettingsOf(config, companyCode).targets.get(name)?.type;
  return messagesConfigOf(config, companyCode)?.[channel] === undefined ? undefined : channel;
}

/** The targets of a type. Throws when no target has it. */
async function readChannel({ read }: AdminStore, config: Companies, channel: string | undefined) {
  if (channel === undefined) return {};
  const typed = (await listOutboundTargets(read)).map(({ id, ...target }) => ({
    ...{ id, type: typeOfTarget(config, target) },
  }));
  const targetIds = typed.filter(({ type }) => type === channel).map(({ id }) => id);
  if (targetIds.length > 0) return { targetIds };
  const known = [...new Set(typed.flatMap(({ type }) => type ?? []))].join(", ");
  throw new WrongUseError(`there is no target of type ${channel}; there is ${known === "" ? "none" : known}`);
}

/** The filter for queries. Throws when it names something that does not exist. */
export async function readDeliveryFilter(
  store: AdminStore,
  config: DeliveryConfig,
  filter: DeliveryFilter,
): Promise<DeliverySelection> {
  const { since, until, name, fault, user: userName, stop: stopNbr } = filter;
  return {
    ...given({ state: readState(filter.state), stopNbr, since, until, name, fault, userName }),
    ...(await companyFilter(store, filter.company)),
    ...(await readTarget(store, filter.target)),
    ...(await readChannel(store, config, filter.channel)),
  };
}
