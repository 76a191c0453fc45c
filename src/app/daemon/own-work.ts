/** Work that goes through the companies of this node now and then. */
import { fencedStore, type Ownership } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";

/** The lane of what concerns no company. */
export const siteLane = 0;

export interface OwnWork {
  /** Units of companies that the node has not are refused. */
  readonly store: Store;
  readonly isOurs: (companyId: number) => boolean;
}

export function ownWorkOf({
  store,
  cluster: { ownership },
}: {
  readonly store: Store;
  readonly cluster: { readonly ownership: Ownership };
}): OwnWork {
  return {
    store: fencedStore(store, ownership),
    isOurs: (companyId) => ownership.fenceOf(companyId) !== undefined,
  };
}
