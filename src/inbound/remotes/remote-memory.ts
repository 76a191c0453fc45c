/** The notes about files of remotes, and whether the ledger has these files. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { Store } from "../../store/database/database.ts";
import {
  countRemoteFiles,
  findLaterEntries,
  findRemoteFiles,
  forgetRemoteFiles,
  listRemoteNames,
  noteSeen,
  noteTaken,
  type RemoteFileRecord,
  type RemoteKey,
} from "../../store/ledger/remote-files.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName, asideFolderName, isAgainFileOf } from "../places/place-arrival.ts";

export type { RemoteFileRecord, RemoteKey } from "../../store/ledger/remote-files.ts";

/**
 * What became of a file that an earlier run, or an earlier round, has noted as taken.
 *
 * `entered`: the ledger has it with this content. `waiting`: it lies in `inbound/` or waits in the ledger, so that its
 * content is not known there; to be asked again. `lost`: it never got its place.
 */
export type TakenFate = "entered" | "waiting" | "lost";

export interface RemoteMemory {
  count(key: RemoteKey): Promise<number>;
  find(key: RemoteKey, names: readonly string[]): Promise<readonly RemoteFileRecord[]>;
  namesAfter(key: RemoteKey, after: string, limit: number): Promise<readonly string[]>;
  noteTaken(
    key: RemoteKey,
    files: readonly Pick<RemoteFileRecord, "name" | "size" | "modified" | "sha256">[],
  ): Promise<void>;
  noteSeen(key: RemoteKey, names: readonly string[]): Promise<void>;
  forget(key: RemoteKey, names: readonly string[]): Promise<void>;
  fateOf(key: RemoteKey, file: RemoteFileRecord, inboundDirectory: string): Promise<TakenFate>;
  /** Whether the ledger has an entry of the file that was placed there. */
  isEntered(companyId: number, file: { readonly name: string; readonly path: string }): Promise<boolean>;
}

/**
 * Also while a scan takes it, which sets it aside for a moment and puts a copy in its place: it is looked for where it lies
 * before, meanwhile and afterwards, so that it cannot be passed by.
 */
async function liesInInbound(inboundDirectory: string, name: string): Promise<boolean> {
  const isThere = async () => (await readdir(inboundDirectory)).includes(name);
  if (await isThere()) return true;
  for (const folder of [asideFolderName, againFolderName]) {
    const names = (await readdir(join(inboundDirectory, folder)).catch(unlessMissing)) ?? [];
    if (names.some((other) => isAgainFileOf(other, name))) return true;
  }
  return await isThere();
}

export function createRemoteMemory(deps: {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Pick<Locations, "toLedger">;
  readonly clock: Clock;
}): RemoteMemory {
  const { store, locations, clock } = deps;
  return {
    count: (key) => countRemoteFiles(store.read, key),
    find: (key, names) => findRemoteFiles(store.read, key, names),
    namesAfter: (key, after, limit) => listRemoteNames(store.read, key, { after, limit }),
    noteTaken: (key, files) =>
      store.write(key.companyId, (tx) => noteTaken(tx, key, { files, at: clock.now() })),
    noteSeen: (key, names) => store.write(key.companyId, (tx) => noteSeen(tx, key, names)),
    forget: (key, names) => store.write(key.companyId, (tx) => forgetRemoteFiles(tx, key, names)),
    async fateOf({ companyId }, { name, sha256, afterFileId }, inboundDirectory) {
      // In this order: a file leaves the folder only when the ledger has decided about it.
      if (await liesInInbound(inboundDirectory, name)) return "waiting";
      const entries = await findLaterEntries(store.read, { companyId, name, afterFileId });
      if (entries.some((entry) => entry.sha256 === sha256)) return "entered";
      return entries.some(({ isWaiting }) => isWaiting) ? "waiting" : "lost";
    },
    async isEntered(companyId, { name, path }) {
      const source = locations.toLedger(path);
      const entries = await findLaterEntries(store.read, { companyId, name, afterFileId: 0 });
      return entries.some((entry) => entry.source === source);
    },
  };
}
