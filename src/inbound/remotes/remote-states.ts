/** The state of remotes as their pollers record it, and requests of commands for polls. */
import type { Store } from "../../store/database/database.ts";
import {
  listRemoteStates,
  type RemoteName,
  type RemoteRounds,
  type RemoteState,
  saveRemoteRounds,
} from "../../store/ledger/remote-states.ts";

export type { RemoteRounds, RemoteState } from "../../store/ledger/remote-states.ts";

export interface RemoteStates {
  save(name: RemoteName, rounds: RemoteRounds): Promise<void>;
  list(): Promise<readonly RemoteState[]>;
}

export function createRemoteStates({
  store,
}: {
  readonly store: Pick<Store, "read" | "write">;
}): RemoteStates {
  return {
    save: (name, rounds) => store.write(name.companyId, (tx) => saveRemoteRounds(tx, { ...name, ...rounds })),
    list: () => listRemoteStates(store.read),
  };
}
