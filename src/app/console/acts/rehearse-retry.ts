/**
 * What a retry of files would come to at this moment: each is decided about by the very rules of the pipeline, in a unit of
 * work that is then undone.
 */
import { companySettingsOf } from "../../../config/company-settings.ts";
import { parseStopFileName } from "../../../domain/files/stop-file-name.ts";
import { type ConsoleUser, companiesFor } from "../../../endpoints/http/console/console-user.ts";
import type { RetryRehearsal } from "../../../endpoints/http/console/console-acts.ts";
import { decideFile } from "../../../inbound/lanes/decide-file.ts";
import { createLocations } from "../../../inbound/places/locations.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { acceptRetry, type LedgerEntry, requestRetry } from "../../../store/ledger/files.ts";
import { dryRun } from "../../admin/admin-store.ts";
import { whyNotRetried } from "../../admin/file-retry.ts";
import { changesOf, type ReadableDocument, stopNumbersOf, stopsOf } from "../../admin/stops/stop-change.ts";
import type { ActContext } from "../act-context.ts";
import { findEntryOf } from "./retry-files.ts";

type Outcome = NonNullable<RetryRehearsal["outcome"]>;

interface Rehearsed {
  readonly entry: LedgerEntry;
  readonly companyCode: string;
  readonly document: ReadableDocument;
}

async function decideDry(
  tx: Transaction,
  context: ActContext,
  { entry, companyCode, document }: Rehearsed,
): Promise<Outcome> {
  const { id, companyId, name, receivedAt, location } = entry;
  const now = context.clock.now();
  const { names, lateFiles } = companySettingsOf(context.config(), companyCode);
  const numbers = stopNumbersOf(document);
  const before = await stopsOf(tx, companyId, numbers);
  await requestRetry(tx, { id, now });
  await acceptRetry(tx, { id });
  const parsedName = parseStopFileName(name);
  const file = { id, companyId, companyCode, name, receivedAt, parsedName, prepared: document };
  const { ledgerNumbers } = context;
  const rules = { names, lateFiles };
  const decided = await decideFile(tx, file, { rules, locationFor: () => location, now, ledgerNumbers });
  const changes = decided.state === "applied" ? changesOf(before, await stopsOf(tx, companyId, numbers)) : [];
  return { state: decided.state, faults: decided.faults, changes };
}

async function rehearse(
  context: ActContext,
  { entry, code }: { readonly entry: LedgerEntry; readonly code: string },
): Promise<Pick<RetryRehearsal, "why" | "outcome">> {
  const path = createLocations(context.stateDir).fromLedger(entry.location);
  const why = await whyNotRetried(entry, path);
  if (why !== undefined) return { why, outcome: undefined };
  const document = await context.documents.prepareFile(path);
  if (document.kind === "unreadable") return { why: document.message, outcome: undefined };
  const rehearsed = { entry, companyCode: code, document };
  const outcome = await dryRun(context.store, entry.companyId, (tx) => decideDry(tx, context, rehearsed));
  return { why: undefined, outcome };
}

async function rehearseOne(
  context: ActContext,
  user: ConsoleUser,
  reference: string,
): Promise<readonly RetryRehearsal[]> {
  const entry = await findEntryOf(context, reference);
  const company = companiesFor(user, "act").find(({ id }) => id === entry?.companyId);
  if (entry === undefined || company === undefined) return [];
  const { id, code } = company;
  const { name, state, faults } = entry;
  const told = { reference, name, company: { id, code }, state, faultsBefore: faults };
  return [{ ...told, ...(await rehearse(context, { entry, code })) }];
}

/** Each by itself, as things are now: what the one before it would change is undone. */
export async function rehearseRetries(
  context: ActContext,
  user: ConsoleUser,
  { of }: { readonly of: readonly string[] },
): Promise<readonly RetryRehearsal[]> {
  const rehearsals: RetryRehearsal[] = [];
  for (const reference of new Set(of)) rehearsals.push(...(await rehearseOne(context, user, reference)));
  return rehearsals;
}
