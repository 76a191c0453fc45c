/** Deliveries that an administrator gives up, so that the later ones of their stops go on. */
import { userInfo } from "node:os";
import { systemClock } from "../../lib/clock.ts";
import { giveUpDelivery, type GiveUpOutcome } from "../../operations/deliveries/give-up-delivery.ts";
import { listToGiveUp } from "../../store/outbound/delivery-requests.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import { readTarget } from "./delivery-filter.ts";
import { type RepeatReport, type RepeatView, unknownRemark } from "./delivery-view.ts";
import { inBatches, itemsAtOnce } from "./in-batches.ts";
import { portionsOf } from "../../lib/portions.ts";
import { findRunningDaemons } from "./running-daemons.ts";

interface GiveUpWish {
  readonly by: string;
  readonly reason: string;
}

const listedAtOnce = 5_000;

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
    return { repeats: repeats.toReversed(), ...(await findRunningDaemons(config, store)) };
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

/** The numbers of the deliveries to the target that wait or are dead, the oldest first. */
export async function listForTarget(config: StateConfig, options: TargetOptions): Promise<readonly number[]> {
  return await withAdminStore(config, async (store) => {
    const selection = await selectionOf(store, options);
    const all: number[] = [];
    for (;;) {
      const page = { afterId: all.at(-1) ?? 0, limit: listedAtOnce };
      const ids = await listToGiveUp(store.read, { ...selection, ...page });
      for (const id of ids) all.push(id);
      if (ids.length < listedAtOnce) return all;
    }
  });
}

/**
 * Gives up these deliveries, as far as they still wait or are dead, a few at a time beside the daemon; gives the numbers
 * of those that are given up, the oldest first. The newest go first: none that is to be given up is sent meanwhile because
 * the one before it is gone.
 */
export async function giveUpListed(
  config: StateConfig,
  ids: readonly number[],
  wish: GiveUpWish,
): Promise<readonly number[]> {
  return await withAdminStore(config, async (store) => {
    const pages = portionsOf(
      ids.toSorted((a, b) => b - a),
      itemsAtOnce,
    );
    const views: RepeatView[] = [];
    await inBatches(
      async () => pages.next().value ?? [],
      async (page) => {
        if (page.length > 0) views.push(...(await giveUpSome(store, page, wish)));
      },
    );
    return views
      .filter(({ isQueued }) => isQueued)
      .map(({ id }) => id)
      .toReversed();
  });
}
