/** Deliveries, as the commands of an administrator list them. */
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { countDeliveries, listDeliveries as readDeliveries } from "../../store/outbound/delivery-lists.ts";
import { findDelivery } from "../../store/outbound/delivery-queries.ts";
import { type CutList, cutAt, type Page, type StateConfig, withAdminStore } from "./admin-store.ts";
import { type DeliveryConfig, type DeliveryFilter, readDeliveryFilter } from "./delivery-filter.ts";
import { type DeliveryDetail, type DeliveryView, toDeliveryDetail, toDeliveryView } from "./delivery-view.ts";

/** Deliveries of all companies, or those that the filter selects. */
export async function listDeliveries(
  config: DeliveryConfig,
  filter: DeliveryFilter,
  { limit, before }: Page,
): Promise<CutList<DeliveryView>> {
  return await withAdminStore(config, async (store) => {
    const selection = await readDeliveryFilter(store, config, filter);
    const page = { ...given({ beforeId: before }), limit: limit + 1 };
    const rows = await readDeliveries(store.read, { ...selection, ...page });
    const now = systemClock.now();
    return cutAt(limit, rows, (row) => toDeliveryView(row, now));
  });
}

/** How many deliveries the filter selects. */
export async function countListed(config: DeliveryConfig, filter: DeliveryFilter): Promise<number> {
  return await withAdminStore(config, async (store) =>
    countDeliveries(store.read, await readDeliveryFilter(store, config, filter)),
  );
}

/** One delivery by its number, or by the GUID that the receiver knows; undefined when there is none. */
export async function showDelivery(
  config: StateConfig,
  key: number | string,
): Promise<DeliveryDetail | undefined> {
  return await withAdminStore(config, async (store) => {
    const found = await findDelivery(store.read, key);
    return found === undefined ? undefined : toDeliveryDetail(found, systemClock.now());
  });
}
