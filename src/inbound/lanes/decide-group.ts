/**
 * Decides about a group of files in one commit.
 *
 *   together ──committed──> decided
 *      ├──another node has the company──> fenced: nothing is left to do here
 *      ├──another node has entered files of its stops──> unseen: back in line, to be decided about when these are in line
 *      ├──the store is at fault──> again: back in line, to be decided about alone; earlier files may have come meanwhile
 *      └──alone, or a fault of the file
 *           ├──another process has decided the entry──> gone
 *           ├──the store is at fault──> held: retried later, never refused
 *           └──a fault of our own──> held, and refused as an internal error (998) at the third time, or, when that fails
 *                                        as well, held as by a fault of the store
 */
import type { DecidedState } from "../../domain/files/file-state.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { isPassingStoreError, isStoreFault } from "../../lib/store-error.ts";
import type { Store } from "../../store/database/database.ts";
import { FencedError, type MayRunBefore, UnseenArrivalsError } from "../../store/database/fence.ts";
import { noteAlive } from "../../store/database/meta.ts";
import {
  type DecidableDocument,
  type DecidedFile,
  type DecisionRules,
  decideFile,
  NotWaitingError,
} from "./decide-file.ts";
import { stopUnitKey } from "../../operations/stops/stop-unit-keys.ts";
import { apart, besideArrivals } from "../../store/database/groups/side-by-side.ts";
import type { Locations } from "../places/locations.ts";
import { receiptKeyOf } from "../receipts/awaited-receipts.ts";
import { stopKeysOf } from "./stop-keys.ts";
import { unreadableFault, unreadSizeOf } from "./put-aside.ts";
import { locationFor } from "../places/places.ts";
import type { WaitingFile } from "./waiting-file.ts";

export interface DecideDependencies {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly clock: Clock;
  readonly log: Logger;
  readonly company: { readonly id: number; readonly code: string };
  readonly rules: () => DecisionRules;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly arrivals?: Arrivals | undefined;
}

/** Files that other nodes enter. */
export interface Arrivals {
  /** Whether a file may be decided about before those that are not in line at this call: they are of other stops. */
  mayComeLater(file: {
    readonly id: number;
    /** CCYYMMDDHHMMSS; of one whose name has no time, that of its arrival. */
    readonly nameTime: number;
    readonly keys: readonly string[];
  }): MayRunBefore;
}

export type ReadyFile = WaitingFile & { id: number; prepared: PreparedDocument };

export type DecisionOutcome =
  | { readonly kind: "decided"; readonly decided: DecidedFile }
  /** The entry is not ours any more. */
  | { readonly kind: "gone" }
  /** The commit may have failed for the sake of another file of the group. */
  | { readonly kind: "again" }
  /** Files that another node has entered may come before it. */
  | { readonly kind: "unseen" }
  /** Another node decides about the files of the company. */
  | { readonly kind: "fenced" }
  | {
      readonly kind: "held";
      readonly reason: "store" | "internal";
      readonly message: string;
      /** Nothing can be decided at the moment, whatever the file. */
      readonly isGeneral: boolean;
    };

const maxAttempts = 3;

function decidable(file: ReadyFile): DecidableDocument {
  const { prepared } = file;
  if (prepared.kind !== "unreadable") return prepared;
  return { kind: "unread", size: unreadSizeOf(file, prepared), fault: unreadableFault(file.name, prepared) };
}

/** What a decision depends on and changes: the stops of the file, and the entries that share its receipt. */
export function keysOfFile(
  { id: companyId }: Pick<DecideDependencies["company"], "id">,
  { name, prepared }: Pick<ReadyFile, "name"> & Partial<Pick<ReadyFile, "prepared">>,
): readonly string[] {
  return [...stopKeysOf(name, prepared).map(stopUnitKey), `receipt ${receiptKeyOf({ companyId, name })}`];
}

/** An async function: whatever is thrown on the way is the outcome of this file alone. */
async function decideOnce(
  deps: DecideDependencies,
  file: ReadyFile,
  prepared: DecidableDocument,
): Promise<DecidedFile> {
  const { id, name, receivedAt } = file;
  const { id: companyId, code: companyCode } = deps.company;
  const now = deps.clock.now();
  const reference = deps.ledgerNumbers.seal(id);
  const place = (state: DecidedState, isNameTaken: boolean) =>
    locationFor(deps.locations, { companyCode, name, reference, state, isNameTaken, now });
  const rules = deps.rules();
  const parsedName = parseStopFileName(name);
  const parsedAt = prepared.kind === "unread" ? null : (file.parsedAt ?? null);
  const toDecide = { id, companyId, companyCode, name, receivedAt, parsedName, prepared, parsedAt };
  const context = { rules, locationFor: place, now, ledgerNumbers: deps.ledgerNumbers };
  const keys = () => keysOfFile(deps.company, file);
  const mayRunBefore = deps.arrivals?.mayComeLater({ id, nameTime: file.nameTime, keys: keys() });
  return await deps.store.write(
    companyId,
    besideArrivals(
      mayRunBefore,
      apart(keys, (tx) => decideFile(tx, toDecide, context)),
    ),
  );
}

function internalRefusal(
  { ledgerNumbers }: DecideDependencies,
  { name, id, prepared, size }: ReadyFile,
): DecidableDocument {
  const message = `${name} could not be processed because of an internal error; ask the administrator for ledger entry ${ledgerNumbers.seal(id)}`;
  const known = prepared.kind === "unreadable" ? size : prepared.size;
  return { kind: "unread", size: known, fault: { code: "internal", message } };
}

function heldBecause(error: unknown, isGeneral: boolean): DecisionOutcome {
  const reason = isStoreFault(error) ? "store" : "internal";
  return { kind: "held", reason, message: messageOf(error), isGeneral };
}

async function outcomeOf(work: Promise<DecidedFile>): Promise<DecidedFile | { readonly error: unknown }> {
  try {
    return await work;
  } catch (error) {
    return { error };
  }
}

/** Tells a full disk from a page that cannot be read: with that one only the files that need it are held. */
async function isWritable({ store, clock }: DecideDependencies): Promise<boolean> {
  return await noteAlive(store, clock.now()).then(
    () => true,
    () => false,
  );
}

/** What is no failure: others have the file, or have more of them. */
function handedOn(error: unknown): DecisionOutcome | undefined {
  if (error instanceof NotWaitingError) return { kind: "gone" };
  if (error instanceof FencedError) return { kind: "fenced" };
  return error instanceof UnseenArrivalsError ? { kind: "unseen" } : undefined;
}

/** What follows from a failed attempt. */
async function afterFailure(
  deps: DecideDependencies,
  file: ReadyFile,
  { error, wasAlone }: { readonly error: unknown; readonly wasAlone: boolean },
): Promise<DecisionOutcome> {
  const passed = handedOn(error);
  if (passed !== undefined) return passed;
  if (isStoreFault(error) && !wasAlone) return { kind: "again" };
  if (isStoreFault(error)) return heldBecause(error, isPassingStoreError(error) && !(await isWritable(deps)));
  file.failures = (file.failures ?? 0) + 1;
  deps.log.error(
    { err: error, fileId: file.id, file: file.name, company: deps.company.code, attempt: file.failures },
    "deciding about a file failed",
  );
  if (file.failures < maxAttempts) return heldBecause(error, false);
  const refused = await outcomeOf(decideOnce(deps, file, internalRefusal(deps, file)));
  if (!("error" in refused)) return { kind: "decided", decided: refused };
  const passedMeanwhile = handedOn(refused.error);
  if (passedMeanwhile !== undefined) return passedMeanwhile;
  // Not even that can be written down: it is not for the file any more.
  return { kind: "held", reason: "store", message: messageOf(refused.error), isGeneral: false };
}

/**
 * Calls `finish` for each file of the group, first for those that are committed. No two of a group may be of the same stop:
 * one that fails comes after the others.
 */
export async function decideGroup(
  deps: DecideDependencies,
  group: readonly ReadyFile[],
  finish: (file: ReadyFile, outcome: DecisionOutcome) => void,
): Promise<void> {
  const attempts = await Promise.all(group.map((file) => outcomeOf(decideOnce(deps, file, decidable(file)))));
  for (const [index, attempt] of attempts.entries()) {
    const file = group[index];
    if (file !== undefined && !("error" in attempt)) finish(file, { kind: "decided", decided: attempt });
  }
  for (const [index, attempt] of attempts.entries()) {
    const file = group[index];
    if (file === undefined || !("error" in attempt)) continue;
    finish(file, await afterFailure(deps, file, { error: attempt.error, wasAlone: group.length === 1 }));
  }
}
