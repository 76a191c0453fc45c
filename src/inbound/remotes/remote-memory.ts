/** What is known of remotes: their state, the notes about their files, and whether the ledger has these. */
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
import {
  listRemoteStates,
  type RemoteName,
  type RemoteRounds,
  saveRemoteRounds,
} from "../../store/ledger/remote-states.ts";
import { listHandPauses } from "../../store/outbound/hand-pauses.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName, asideFolderName, isAgainFileOf } from "../places/place-arrival.ts";

export type { RemoteFileRecord, RemoteKey } from "../../store/ledger/remote-files.ts";
export { isPollAwaited, type RemoteRounds, type RemoteState } from "../../store/ledger/remote-states.ts";

/**
 * What became of a file that an earlier run, or an earlier round, has noted as taken.
 *
 * `entered`: the ledger has it with this content. `waiting`: it lies in `inbound/` or waits in the ledger, so that its
 * content is not known there; to be asked again. `lost`: it never got its place.
 */
export type TakenFate = "entered" | "waiting" | "lost";

/**
 * Also while a scan takes the file, which sets it aside for a moment and puts a copy in its place: this checks where it lies
 * before, meanwhile and afterwards, so that it cannot miss it.
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

/** What is noted about the files of remotes. */
export function createRemoteMemory(deps: {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Pick<Locations, "toLedger">;
  readonly clock: Clock;
}) {
  const { store, locations, clock } = deps;
  return {
    count: (key: RemoteKey) => countRemoteFiles(store.read, key),
    find: (key: RemoteKey, names: readonly string[]) => findRemoteFiles(store.read, key, names),
    namesAfter: (key: RemoteKey, after: string, limit: number) =>
      listRemoteNames(store.read, key, { after, limit }),
    noteTaken: (
      key: RemoteKey,
      files: readonly Pick<RemoteFileRecord, "name" | "size" | "modified" | "sha256">[],
    ) => store.write(key.companyId, (tx) => noteTaken(tx, key, { files, at: clock.now() })),
    noteSeen: (key: RemoteKey, names: readonly string[]) =>
      store.write(key.companyId, (tx) => noteSeen(tx, key, names)),
    forget: (key: RemoteKey, names: readonly string[]) =>
      store.write(key.companyId, (tx) => forgetRemoteFiles(tx, key, names)),
    async fateOf(
      { companyId }: RemoteKey,
      { name, sha256, afterFileId }: RemoteFileRecord,
      inboundDirectory: string,
    ): Promise<TakenFate> {
      // In this order: a file leaves the folder only when the ledger has decided about it.
      if (await liesInInbound(inboundDirectory, name)) return "waiting";
      const entries = await findLaterEntries(store.read, { companyId, name, afterFileId });
      if (entries.some((entry) => entry.sha256 === sha256)) return "entered";
      return entries.some(({ isWaiting }) => isWaiting) ? "waiting" : "lost";
    },
    /** Whether the ledger has an entry of the file that was placed there. */
    async isEntered(companyId: number, { name, path }: { readonly name: string; readonly path: string }) {
      const source = locations.toLedger(path);
      const entries = await findLaterEntries(store.read, { companyId, name, afterFileId: 0 });
      return entries.some((entry) => entry.source === source);
    },
  };
}

export type RemoteMemory = ReturnType<typeof createRemoteMemory>;

/** The state of remotes as their pollers record it, and requests of commands for polls. */
export function createRemoteStates({ store }: { readonly store: Pick<Store, "read" | "write"> }) {
  return {
    save: (name: RemoteName, rounds: RemoteRounds) =>
      store.write(name.companyId, (tx) => saveRemoteRounds(tx, { ...name, ...rounds })),
    list: () => listRemoteStates(store.read),
    /** The remotes that somebody has paused by hand, until somebody resumes them. */
    async paused(): Promise<readonly RemoteName[]> {
      const pauses = await listHandPauses(store.read);
      return pauses
        .filter(({ kind }) => kind === "remote")
        .map(({ companyId, name }) => ({ companyId, remote: name }));
    },
  };
}

export type RemoteStates = ReturnType<typeof createRemoteStates>;
