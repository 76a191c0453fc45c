/** Explanations of files and stops, as the command shows them. */
import { statfs } from "node:fs/promises";
import { companySettingsOf, outboundSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { isOpenState } from "../../domain/files/file-state.ts";
import type { ForgottenEntries } from "../../domain/retention/pruned-text.ts";
import { partialFolderName } from "../../exchange/folders/company-folders.ts";
import { explain, isKnown } from "../../inbound/explain/explain.ts";
import type { UntakenStory } from "../../inbound/explain/explain-elsewhere.ts";
import type { SearchedFolder } from "../../inbound/recovery/find-loose-files.ts";
import { directLooks, type LooseFile } from "../../inbound/recovery/folder-looks.ts";
import type { WhyUntaken } from "../../inbound/remotes/untaken-files.ts";
import type { FolderOfTarget, OutboundStory } from "../../inbound/explain/explain-outbound.ts";
import type { DiskRoom, Explanation, FileStory, StopStory } from "../../inbound/explain/explanation.ts";
import { explanationLines } from "../../inbound/explain/explain-words.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { systemClock } from "../../lib/clock.ts";
import { isSealedForm } from "../../lib/sealed-numbers.ts";
import { given } from "../../lib/given.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { findDeliveryHold } from "../../store/outbound/delivery-hold.ts";
import { nodePlaceOf } from "../../config/node-place.ts";
import { findLiveNodes } from "./running-daemons.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { whyHeld } from "../../inbound/explain/explain-held.ts";
import { dropFolderFaults, probeDropFolders } from "../checks/folder-faults.ts";
import { ForeignLooks } from "../checks/foreign-looks.ts";
import { holdText } from "../watch/delivery-hold-watch.ts";
import { type Held, readHeldReport } from "../watch/shown/held-report.ts";
import { findEntry } from "./ledger-reference.ts";
import { minFreeBytesOf } from "../daemon/part-options.ts";
import { ownOutboundFolder } from "../daemon/outbound-targets.ts";
import { listRemotes, type RemoteView } from "./remote-admin.ts";
import { toFileView } from "./file-view.ts";
import { codesOf, toRepeatView } from "./ledger-admin.ts";
import { toDeliveryView } from "./delivery-view.ts";

function storyView(story: FileStory, stateDir: string): object {
  const { before, first, laterStop, presence, path, repeats, ofSameStop, inFolders, held, goesOut } = story;
  const now = systemClock.now();
  return {
    ...toFileView(story.entry, story.company, stateDir),
    repeats: repeats.map(toRepeatView),
    ...{ presence, path },
    ...given({ first: first && toFileView(first, story.company, stateDir), laterStop, before, ofSameStop }),
    ...given({ inFolders, held }),
    goesOut: goesOut.map((one) => toDeliveryView(one, now)),
  };
}

function stopView({ stop, deliveries, ...story }: StopStory, now: number): object {
  return {
    deliveries: deliveries.map((one) => toDeliveryView(one, now)),
    ...stop,
    createdAt: isoTime(stop.createdAt),
    updatedAt: isoTime(stop.updatedAt),
    ...story,
    events: story.events.map((event) => ({
      ...event,
      recordedAt: isoTime(event.recordedAt),
      happenedAt: isoTime(event.happenedAt),
    })),
  };
}

function outboundView(story: OutboundStory, now: number): object {
  const { completion, export: made, deliveries } = story;
  const exports = completion?.exports.map(({ deliveries: ofExport, ...one }) => ({
    ...one,
    deliveries: ofExport.map((delivery) => toDeliveryView(delivery, now)),
  }));
  return {
    ...{ name: story.name, company: story.company },
    ...given({
      completion: completion && { ...completion, exports, madeAt: isoTime(completion.madeAt) },
      export: made && {
        ...made,
        madeAt: isoTime(made.madeAt),
        completions: made.completions.map(({ name, stopNbr }) => ({ name, stopNbr })),
      },
    }),
    deliveries: deliveries.map((one) => ({ ...toDeliveryView(one, now), ...given({ place: one.place }) })),
  };
}

function looseView(file: LooseFile): object {
  return { ...file, modifiedAt: isoTime(file.modifiedAt) };
}

function whyUntakenView(why: WhyUntaken): object {
  switch (why.kind) {
    case "settling":
      return { ...why, unchangedSince: isoTime(why.unchangedSince) };
    case "failed":
      return { ...why, triedAgainAt: isoTime(why.triedAgainAt) };
    default:
      return why;
  }
}

function untakenView({ why, nextPollAt, ...file }: UntakenStory): object {
  return { ...file, nextPollAt: isoTime(nextPollAt), why: whyUntakenView(why) };
}

function forgottenView({ company, decidedUntil, prunedAt, prunedDays }: ForgottenEntries): object {
  return { company, decidedUntil: isoTime(decidedUntil), prunedAt: isoTime(prunedAt), prunedDays };
}

function explanationView(explanation: Explanation, stateDir: string): object {
  const { files, stopFiles, stops, loose, outbound, documents, candidates, now, ...others } = explanation;
  const { remoteFiles, untaken, moreUntaken, forgotten, ...rest } = others;
  return {
    ...rest,
    ...given({ forgotten: forgotten?.map(forgottenView) }),
    deliveries: outbound.flatMap(({ deliveries }) => deliveries.map((one) => toDeliveryView(one, now))),
    outbound: outbound.map((story) => outboundView(story, now)),
    remoteFiles: remoteFiles.map((file) => ({ ...file, notedAt: isoTime(file.notedAt) })),
    untaken: untaken.map(untakenView),
    documents: documents.map((one) => ({ ...one, createdAt: isoTime(one.createdAt) })),
    candidates: candidates.map((one) => ({ ...one, at: isoTime(one.at) })),
    files: files.map((story) => storyView(story, stateDir)),
    loose: loose.map(({ behind, ...file }) => ({
      ...looseView(file),
      ...given({ behind: behind?.map(looseView) }),
    })),
    stops: stops.map((story) => stopView(story, now)),
    stopFiles: stopFiles.map((story) => storyView(story, stateDir)),
  };
}

/** An explanation, as facts for programs and as text. */
export interface ExplainedSubject {
  readonly isKnown: boolean;
  readonly facts: object;
  readonly lines: readonly string[];
}

async function roomOf(config: Pick<Config, "stateDir" | "storage">): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(config.stateDir);
  return { freeBytes: bavail * bsize, minFreeBytes: minFreeBytesOf(config)(blocks * bsize) };
}

function withHeld(explanation: Explanation, report: Held | undefined): Explanation {
  if (report === undefined) return explanation;
  const withReason = (story: FileStory): FileStory => {
    if (!isOpenState(story.entry.state)) return story;
    const company = report.companies.find((one) => one.company === story.company);
    return { ...story, held: whyHeld(company, story.entry.id) };
  };
  const { files, stopFiles } = explanation;
  return { ...explanation, files: files.map(withReason), stopFiles: stopFiles.map(withReason) };
}

/** Folders of targets, by the configuration; one that is not the company's own is looked at as drop folders are. */
function targetFolders(
  config: Pick<Config, "stateDir" | "companies">,
  foreignLooks: ForeignLooks,
): FolderOfTarget {
  return async ({ company, name }) => {
    const target = outboundSettingsOf(config, company).targets.get(name);
    if (target?.type !== "folder") return undefined;
    const { path } = target;
    return path === undefined
      ? { path: ownOutboundFolder(config.stateDir, company), isOwn: true, looks: directLooks }
      : { path, isOwn: false, looks: foreignLooks };
  };
}

function whyNothingComes(view: RemoteView): string {
  const { remote, condition, message, succeededAt, pausedUntil, pausedBy, pausedAt, pauseReason } = view;
  if (condition === "paused")
    return `which is paused by ${pausedBy ?? "?"} since ${pausedAt ?? "?"} (${pauseReason ?? "?"}); \`dropgate remote resume ${remote}\` lets it go on`;
  return `which was last polled without a fault ${succeededAt ?? "never"}: ${message ?? "?"}; tried again ${pausedUntil ?? "soon"}, or at once by \`dropgate remote retry ${remote}\``;
}

/** Remotes whose last poll failed, and those that somebody has paused: their files do not come. */
async function remoteTroubles(
  config: Pick<Config, "stateDir" | "companies">,
  query: { readonly company?: string },
): Promise<readonly string[]> {
  const silent = (await listRemotes(config, query)).filter(
    ({ condition }) => condition === "failing" || condition === "paused",
  );
  return silent.map(
    (view) =>
      `nothing comes from the remote ${view.remote} of company ${view.company}, ${whyNothingComes(view)}`,
  );
}

function troubleLines(troubles: readonly string[]): readonly string[] {
  if (troubles.length === 0) return [];
  return ["", "What keeps files back besides:", ...troubles.map((message) => `  ${message}`)];
}

type ExplainConfig = Pick<Config, "stateDir" | "companies" | "inbound" | "storage">;

async function searchedFolders(config: ExplainConfig, store: AdminStore): Promise<readonly SearchedFolder[]> {
  const locations = createLocations(config.stateDir);
  return [...(await codesOf(store)).values()].flatMap((companyCode) => [
    { companyCode, path: locations.inboundDirectory(companyCode), isInbox: true },
    ...companySettingsOf(config, companyCode).folders.map(({ path }) => ({
      companyCode,
      path,
      isInbox: false,
    })),
  ]);
}

/** Explains a file or a stop. */
export async function explainSubject(
  config: ExplainConfig,
  query: { readonly subject: string; readonly company?: string },
): Promise<ExplainedSubject> {
  const foreignLooks = new ForeignLooks();
  try {
    return await withAdminStore(config, (store) => explainIn(store, { ...query, config, foreignLooks }));
  } finally {
    foreignLooks.end();
  }
}

interface Wanted {
  readonly config: ExplainConfig;
  readonly foreignLooks: ForeignLooks;
  readonly subject: string;
  readonly company?: string;
}

async function explainIn(
  store: AdminStore,
  { config, foreignLooks, subject, company }: Wanted,
): Promise<ExplainedSubject> {
  const owner = await companyFilter(store, company);
  const named = isSealedForm(subject) ? await findEntry(store, subject) : undefined;
  const daemonPid = findProcessLockHolder(nodePlaceOf(config).nodeDir);
  const live = await findLiveNodes(store);
  const liveNodes = store.leases === undefined ? undefined : live.map(({ name }) => name);
  const { answering, faultLines } = await probeDropFolders(await searchedFolders(config, store));
  const report = await readHeldReport(config.stateDir, {
    pid: daemonPid,
    nodes: new Map(live.map(({ name, incarnation }) => [name, incarnation])),
  });
  const explanation = await explain(
    {
      ...{ store, locations: createLocations(config.stateDir), partialFolderName, daemonPid },
      ...given({ liveNodes }),
      ...{ space: await roomOf(config), folders: answering, foreignLooks },
      ...{ folderOfTarget: targetFolders(config, foreignLooks), untaken: report?.remotes ?? [] },
      now: systemClock.now(),
    },
    named === undefined ? { subject, ...owner } : { subject: named.name, companyId: named.companyId },
  );
  const explained = withHeld(explanation, report);
  const hold = await findDeliveryHold(store.read);
  // A running daemon reports it among its own.
  const held = hold === undefined || report !== undefined ? [] : [holdText(hold)];
  const troubles = [
    ...(report?.troubles ?? held),
    ...faultLines,
    ...dropFolderFaults(answering, foreignLooks.faults),
    ...(await remoteTroubles(config, given({ company }))),
  ];
  return {
    isKnown: isKnown(explained),
    facts: { ...explanationView(explained, config.stateDir), troubles },
    lines: [...explanationLines(explained), ...troubleLines(troubles)],
  };
}
