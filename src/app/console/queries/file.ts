/** What is known of one file of the ledger, in the words of `dropgate explain`. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { FileAsked, FileFound } from "../../../endpoints/http/console/pages/file/file-view.ts";
import { isDecidedState, isOpenState } from "../../../domain/files/file-state.ts";
import { partialFolderName } from "../../../exchange/folders/company-folders.ts";
import { whyHeld } from "../../../inbound/explain/explain-held.ts";
import type { ExplainDependencies, FileStory } from "../../../inbound/explain/explanation.ts";
import { wordsOfFile } from "../../../inbound/explain/file-words.ts";
import { tellFile } from "../../../inbound/explain/tell-file.ts";
import { createLocations } from "../../../inbound/places/locations.ts";
import { directLooks } from "../../../inbound/recovery/folder-looks.ts";
import { receiptsOf } from "../../../inbound/receipts/receipts.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import { listNamesakes } from "../../../store/ledger/file-queries.ts";
import { listFiles } from "../../../store/ledger/file-lists.ts";
import { type FileRepeat, findFile, type LedgerEntry } from "../../../store/ledger/files.ts";
import { findReceiptSharers } from "../../../store/ledger/receipt-sharers.ts";
import { listDeliveries } from "../../../store/outbound/delivery-lists.ts";
import { heldReportOf } from "./held-report-of.ts";
import type { QueryContext } from "../query-context.ts";
import {
  companyNaming,
  deliveryLinkOf,
  entryOfReference,
  fileLinkOf,
  type FoundEntry,
  type ScopedCompany,
} from "./ledger-links.ts";

const maxLinks = 20;

/** What explains files of a company, from this thread. */
export function explainDeps(
  { read, stateDir, now }: QueryContext,
  company: ScopedCompany,
): ExplainDependencies {
  const locations = createLocations(stateDir);
  return {
    ...{ store: { read }, locations, partialFolderName, untaken: [], now, daemonPid: process.pid },
    // Only its own: other folders may be on a share that does not answer, and the daemon reports what they keep back.
    folders: [{ companyCode: company.code, path: locations.inboundDirectory(company.code), isInbox: true }],
    foreignLooks: directLooks,
    folderOfTarget: async () => undefined,
  };
}

/** The story of an entry, with why it does not go on, as the daemon reports it. */
async function storyOf(context: QueryContext, { entry, company }: FoundEntry): Promise<FileStory> {
  const story = await tellFile(explainDeps(context, company), company.code, entry);
  if (!isOpenState(entry.state)) return story;
  const report = await heldReportOf(context);
  const ofCompany = report?.companies.find((one) => one.company === company.code);
  return { ...story, held: whyHeld(ofCompany, entry.id, companyNaming(context)) };
}

function formerDecision({ state, decidedAt, askedAt, receiptCollectedAt, faults }: FileRepeat) {
  const reasons = faults.map(({ code, message }) => ({ reasonCode: reasonCodeOf(code), message }));
  return { state, decidedAt, askedAt, receiptCollectedAt, reasons };
}

function momentsOf(entry: LedgerEntry) {
  const { nameTime, beganAt, receivedAt, enteredAt, parsedAt, decidedAt, filedAt, removedAt } = entry;
  const { receiptCollectedAt: at, receiptCollectedBy: by, receiptUnread } = entry;
  const receiptCollected = at === null ? undefined : { at, by, isUnread: receiptUnread === 1 };
  return {
    ...{ nameTime, beganAt, receivedAt, enteredAt, parsedAt, decidedAt, filedAt, removedAt },
    receiptCollected,
  };
}

async function linksOf(context: QueryContext, entry: LedgerEntry) {
  const { read } = context;
  const { companyId, name, stopNbr, id, firstId } = entry;
  const limit = maxLinks + 1;
  const namesakes = await listNamesakes(read, { companyId, name, limit });
  const ofStop = stopNbr === null ? [] : await listFiles(read, { companyId, stopNbr, limit });
  const first = firstId === null ? undefined : await findFile(read, firstId);
  return {
    first: first === undefined ? undefined : fileLinkOf(context, first),
    namesakes: namesakes.filter((one) => one.id !== id).map((one) => fileLinkOf(context, one)),
    ofStop: ofStop
      .filter((one) => one.id !== id)
      .map((one) => ({ ...fileLinkOf(context, one), isNewer: one.id > id })),
  };
}

async function receiptOf({ read, ledgerNumbers: numbers }: QueryContext, entry: LedgerEntry) {
  if (!isDecidedState(entry.state)) return { receipt: undefined, isReceiptReplaced: false };
  const sharers = await findReceiptSharers(read, entry);
  const { receipt, receiptOfName } = await receiptsOf({ read, numbers }, entry, sharers);
  return { receipt, isReceiptReplaced: receiptOfName !== undefined };
}

async function deliveriesOf({ read }: QueryContext, entry: LedgerEntry) {
  const { companyId, stopNbr, state, receivedAt: since } = entry;
  if (state !== "applied" || stopNbr === null) return [];
  return (await listDeliveries(read, { companyId, stopNbr, since, limit: maxLinks })).map(deliveryLinkOf);
}

/** The file of that reference; undefined when there is none that the user may see. */
export async function queryFile(
  context: QueryContext,
  scope: Scope,
  { reference }: FileAsked,
): Promise<FileFound | undefined> {
  const found = await entryOfReference(context, scope, reference);
  if (found === undefined) return undefined;
  const { entry, company } = found;
  const story = await storyOf(context, found);
  const { name, state, channel, userName: user, size, documentId, stopFunction, stopNbr } = entry;
  return {
    reference: context.ledgerNumbers.seal(entry.id),
    ...{ companyId: company.id, company: company.code },
    ...{ name, state, channel, user, size, documentId, stopFunction, stopNbr },
    sha256: entry.sha256 === "" ? null : entry.sha256,
    ...{ ...momentsOf(entry), isFiled: entry.isFiled, presence: story.presence },
    words: wordsOfFile(story, { daemonPid: process.pid }, companyNaming(context)),
    repeats: story.repeats.map(formerDecision),
    ...(await linksOf(context, entry)),
    ...(await receiptOf(context, entry)),
    deliveries: await deliveriesOf(context, entry),
  };
}
