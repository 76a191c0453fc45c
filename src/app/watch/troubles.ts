/** What `/readyz` says besides the self-check: why work is held, in messages that name no path. */
import type { NoRoom } from "../../exchange/uploads/intake.ts";
import type { HeldFiles } from "../../inbound/lanes/held-files.ts";
import { storeRemedies } from "../../lib/store-error.ts";
import type { DeliveryHold } from "../../store/outbound/delivery-hold.ts";
import { holdText } from "./delivery-hold-watch.ts";
import { waitText } from "../../lib/wait-text.ts";

export interface Trouble {
  /** The check that it makes fail: of the database, of files, or of this node. Without one it is only reported. */
  readonly check?: "database" | "files" | "node";
  readonly message: string;
}

/** Beyond this a waiting file is named. */
const longMs = 60_000;

function haltOf({ company, halt }: HeldFiles): readonly Trouble[] {
  if (halt === undefined) return [];
  const message = `company ${company}: all files (${halt.files}) wait since ${waitText(halt.forMs)}: ${halt.message}; ${storeRemedies.unavailable}`;
  return [{ check: "files", message }];
}

function heldOf(held: HeldFiles): readonly Trouble[] {
  const { company, keptBack, isOwnFault, first } = held;
  const named = first.filter(({ forMs, isOwnFault: isOwn }) => isOwn || forMs >= longMs);
  const rest = keptBack === 0 ? "" : ` (${keptBack} later files of its stops wait with the held ones)`;
  return named.map(({ name, reason, message, forMs, isOwnFault: isOwn }) => ({
    ...(isOwn && isOwnFault ? { check: "files" as const } : {}),
    message: `company ${company}: ${name} waits since ${waitText(forMs)} (${reason}: ${message})${rest}`,
  }));
}

/** The store can be written, so accepted work goes on: this is reported, and makes nothing fail. */
function noRoomOf({ company, message, since, refused }: NoRoom, now: number): Trouble {
  const who = company === undefined ? "" : `company ${company}: `;
  const uploads = refused === 0 ? "" : `; ${refused} uploads were refused`;
  return { message: `${who}no more files are taken since ${waitText(now - since)}: ${message}${uploads}` };
}

/** A balancer is to send it no more, and what it has goes on until it is done. */
function drainingOf(node: string | undefined): readonly Trouble[] {
  if (node === undefined) return [];
  const message = `the node ${node} gives its companies away, as it was asked to: \`dropgate nodes resume ${node}\` ends that`;
  return [{ check: "node", message }];
}

/** All that is known at this moment. */
export function troublesOf(state: {
  readonly damage: string | undefined;
  readonly held: readonly HeldFiles[];
  readonly noRoom: readonly NoRoom[];
  /** Why the program must not use the database any more. */
  readonly tooOld?: string | undefined;
  /** Why a node cannot use the state directory that it shares. */
  readonly treeFault?: string | undefined;
  /** Deliveries are held since a restore; all else works. */
  readonly deliveryHold: DeliveryHold | undefined;
  /** The name of this node while it gives its companies away. */
  readonly drainingNode?: string | undefined;
  /** Milliseconds UTC. */
  readonly now: number;
}): readonly Trouble[] {
  const { damage, held, noRoom, deliveryHold, tooOld, now } = state;
  const unfit: readonly Trouble[] = tooOld === undefined ? [] : [{ check: "database", message: tooOld }];
  const ofTree: readonly Trouble[] =
    state.treeFault === undefined ? [] : [{ check: "files", message: state.treeFault }];
  const ofNode = [...unfit, ...ofTree, ...drainingOf(state.drainingNode)];
  const ofDeliveries: readonly Trouble[] =
    deliveryHold === undefined ? [] : [{ message: holdText(deliveryHold) }];
  const damaged: readonly Trouble[] =
    damage === undefined
      ? []
      : [{ check: "database", message: `the database is damaged (${damage}); ${storeRemedies.damaged}` }];
  const ofFiles = held.flatMap((one) => [...haltOf(one), ...heldOf(one)]);
  return [...damaged, ...ofNode, ...ofFiles, ...ofDeliveries, ...noRoom.map((one) => noRoomOf(one, now))];
}
