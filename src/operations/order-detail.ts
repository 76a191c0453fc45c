/** Get order detail: the order as the host sent it last, and where it stands (interface "Customer order", 4.6). */
import type { Order } from "../domain/order.ts";
import type { Reader } from "../store/database.ts";
import { findStoredOrder, type StoredOrder } from "../store/orders.ts";
import { orderNotFound } from "./order-not-found.ts";
import { documentsWithoutContent } from "./stop-detail.ts";

export interface OrderDetailDeps {
  readonly store: { readonly read: Reader };
}

export interface OrderDetailQuery {
  readonly companyId: number;
  readonly orderNbr: string;
}

/** The states are those of stops (decisions 3): a cancelled order is 99 whatever became of its stop afterwards. */
function statusOf({ isCancelled, stopStatus }: StoredOrder): string | null {
  return isCancelled ? "99" : stopStatus;
}

function shownForm(stored: StoredOrder): Record<string, unknown> {
  const order = JSON.parse(stored.body) as Order;
  const { documents } = order;
  return {
    ...order,
    ...(documents === undefined ? {} : { documents: documentsWithoutContent(documents) }),
    orderStatus: statusOf(stored),
  };
}

/**
 * The retrieval document as JSON text, with `orderStatus` besides: the status of the order's stop, null when there is
 * none. Throws 922 when the company has no order of exactly that number.
 */
export async function readOrderDetail(deps: OrderDetailDeps, query: OrderDetailQuery): Promise<string> {
  const stored = await findStoredOrder(deps.store.read, query.companyId, query.orderNbr);
  if (stored === undefined) throw orderNotFound(query.orderNbr);
  return JSON.stringify({ Order: [shownForm(stored)] });
}
