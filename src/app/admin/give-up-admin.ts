/** Deliveries that an administrator gives up, so that the later ones of their stops go on. */
import { userInfo } from "node:os";
import { systemClock } from "../../lib/clock.ts";
import { giveUpDelivery, type GiveUpOutcome } from "../../operations/deliveries/give-up-delivery.ts";
import { countToGiveUp, listToGiveUp } from "../../store/outbound/delivery-requests.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import { readTarget } from "./delivery-filter.ts";
import { type RepeatReport, type RepeatView, unknownRemark } from "./delivery-view.ts";

interface GiveUpWish {
  readonly by: string;
  readonly reason: string;
}

const givenUpAtOnce = 500;

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user id may have no name.
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Who asks, as the machine knows them: the account, and behind `sudo` whose it was. Call it before the account is changed. */
export function currentOperator(environment: NodeJS.ProcessEnv): string {
  const account = accountName();
  const { SUDO_USER: behind } = environment;
  return behind === undefined || behind === "" || behind === account ? account : `${behind} (as ${account})`;
}

function viewOf(id: number, outcome: GiveUpOutcome): RepeatView {
  if (outcome.kind === "unknown")
    return { id, isQueued: false, name: null, remarks: [unknownRemark(outcome)] };
  const { name, state } = outcome.delivery;
  if (outcome.kind === "refused") {
    const why = state === "delivered" ? "the target has it" : "it was dropped before";
    return { id, isQueued: false, name, remarks: [`it is ${state}: ${why}`] };
  }
  const { next } = outcome;
  const remarks = next === undefined ? [] : [`delivery ${next.id} (${next.name}) goes on`];
  return { id, isQueued: true, name, remarks };
}

async function giveUpSome(store: AdminStore, ids: readonly number[], wish: GiveUpWish) {
  return await writeEach(store, ids, async (tx, id) =>
    viewOf(id, await giveUpDelivery(tx, { id, now: systemClock.now(), ...wish })),
  );
}

/** Gives deliveries up by their numbers; a running daemon goes on with the later ones within a second. */
export async function giveUpDeliveries(
  config: StateConfig,
  ids: readonly number[],
  wish: GiveUpWish,
): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => {
    // The later ones of a stop first: none of them is told to go on, and then given up.
    const ordered = [...new Set(ids)].toSorted((a, b) => b - a);
    const repeats = await giveUpSome(store, ordered, wish);
    return { repeats: repeats.toReversed(), daemonPid: findProcessLockHolder(config.stateDir) };
  });
}

interface TargetOptions {
  readonly target: string;
  readonly company?: string;
}

async function selectionOf(store: AdminStore, { target, company }: TargetOptions) {
  await readTarget(store, target);
  return { target, ...(await companyFilter(store, company)) };
}

/** How many deliveries to the target wait or are dead. */
export async function countForTarget(config: StateConfig, options: TargetOptions): Promise<number> {
  return await withAdminStore(config, async (store) =>
    countToGiveUp(store.read, await selectionOf(store, options)),
  );
}

/** Gives up all that waits for a target, or is dead; gives their number. */
export async function giveUpTarget(
  config: StateConfig,
  options: TargetOptions & GiveUpWish,
): Promise<{ readonly count: number; readonly daemonPid: number | undefined }> {
  return await withAdminStore(config, async (store) => {
    const { by, reason } = options;
    const selection = await selectionOf(store, options);
    let count = 0;
    for (let afterId = 0; ; ) {
      const ids = await listToGiveUp(store.read, { ...selection, afterId, limit: givenUpAtOnce });
      const last = ids.at(-1);
      if (last === undefined) break;
      const views = await giveUpSome(store, ids.toReversed(), { by, reason });
      count += views.filter(({ isQueued }) => isQueued).length;
      afterId = last;
    }
    return { count, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}
