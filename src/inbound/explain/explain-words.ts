/** An explanation as text for operators, line by line. */
import { type ForgottenEntries, forgottenText } from "../../domain/retention/pruned-text.ts";
import { basename } from "node:path";
import { hasControlCharacterInName, isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { candidateLines, documentLines, remoteFileLines, untakenLines } from "./elsewhere-words.ts";
import { deliveryText, outboundLines } from "./outbound-words.ts";
import type { StopSummary } from "../../store/stops/stop-history.ts";
import type { DiskRoom, Explanation, LooseStory, StopStory, ToldEvent } from "./explanation.ts";
import { fileLines, inFolderText } from "./file-words.ts";
import type { LooseKind } from "../recovery/folder-looks.ts";
import { counted } from "../../lib/counted.ts";
import { areRunning } from "../../store/cluster/running-daemons.ts";

function openEndedText({ size }: LooseStory): string {
  const state = size === 0 ? "It is empty" : "It does not end with the end tag of its root";
  return `${state}: if it is not whole it stays here, and later files of its stop wait for it. Let its writer finish it; when it has not changed for inbound.incompleteGraceMs it is refused.`;
}

function inboundText(file: LooseStory, isRunning: boolean): string {
  if (hasControlCharacterInName(basename(file.path)))
    return "Its name has a control character, such as a line break, so it is left alone: rename it.";
  if (!file.isRegular) return "It is a link, folder, FIFO or device, and none of these is taken.";
  if (!file.isReadable)
    return "It cannot be read by the user of the daemon: give it the right, and the file is taken.";
  if (!isRunning) return "It is not in the ledger yet: the daemon is not running and takes it at its start.";
  const taken =
    "It is not in the ledger yet: it is taken when its size and time have not changed for inbound.settleMs; one of a burst of uploads, when those before it are done.";
  return file.isOpenEnded === true ? `${taken} ${openEndedText(file)}` : taken;
}

const looseWords: Readonly<Record<LooseKind, (file: LooseStory, isRunning: boolean) => string>> = {
  inbound: inboundText,
  watched: inboundText,
  unfinished: () => "Its name says that it is unfinished: it is left alone until its writer renames it.",
  upload: (file) =>
    `It is an upload of user ${file.userName ?? file.userId ?? "unknown"} that is not complete: still under way, or ` +
    "interrupted. It becomes a file when the client continues and closes it, or renames it.",
  filed: () =>
    "No ledger entry knows it: somebody put it there. `dropgate ledger verify` lists all of these.",
  outbound: () =>
    "No delivery knows it: it was delivered so long ago that this is forgotten (retention.outbound), or somebody put it there.",
  receipt: () => "This is the receipt of a file of that name; its entry is not in this ledger.",
};

/** What a file is that is in no ledger, and what becomes of it; without its place. */
export function looseText(file: LooseStory, isRunning: boolean): string {
  return looseWords[file.kind](file, isRunning);
}

function looseLines(file: LooseStory, isRunning: boolean): string[] {
  const { behind = [] } = file;
  return [
    `${file.path}, company ${file.company}`,
    `  ${counted(file.size, "byte")}, changed ${isoTime(file.modifiedAt)}.`,
    `  ${looseText(file, isRunning)}`,
    ...behind.map((earlier) => `  ${inFolderText(earlier)}`),
  ];
}

function loadText(load: StopSummary["load"]): string {
  if (load === null) return "It is on no load.";
  const driver = load.driver === null ? "without a driver that has a name" : `driver ${load.driver}`;
  return `It is on load ${load.loadNbr} (status ${load.status}), ${driver}.`;
}

/** Reports that come in together after a time without connection are listed by when they happened. */
const noteworthyMs = 60_000;

function eventText({ code, name, happenedAt, recordedAt }: ToldEvent): string {
  const isLate = Math.abs(recordedAt - happenedAt) >= noteworthyMs;
  return `${isoTime(happenedAt)}  ${code} ${name}${isLate ? ` (recorded ${isoTime(recordedAt)})` : ""}`;
}

function stopLines(story: StopStory, now: number): string[] {
  const { stop } = story;
  const received = stop.receiveStatus === "10" ? "received" : "not received";
  const carrier = stop.carrierCode === null ? "no carrier" : `carrier ${stop.carrierCode}`;
  const newest =
    stop.fileTime === null
      ? "No file has been applied to it."
      : `The newest file applied has the time ${stop.fileTime}.`;
  return [
    `Stop ${stop.stopNbr}, company ${story.company}`,
    `  Status ${stop.status}: ${story.statusName}; ${received}, ${carrier}.`,
    `  Created ${isoTime(stop.createdAt)}, changed ${isoTime(stop.updatedAt)}. ${newest}`,
    `  ${loadText(stop.load)}`,
    ...story.events.map((event) => `  ${eventText(event)}`),
    ...story.deliveries.map((delivery) => `  ${deliveryText(delivery, now)}`),
  ];
}

function unknownLines(explanation: Explanation): string[] {
  const { subject, nameFault, otherCompanies, moreUntaken } = explanation;
  const lines = [
    `${subject}: neither the ledger nor any folder knows this name, nothing went out under it, and there is no stop of this number.`,
  ];
  if (isUnfinishedName(subject))
    lines.push(
      "  A name that begins with a dot, or ends in .part, .tmp and the like, is unfinished: such a file is left alone until its writer renames it.",
    );
  if (nameFault !== undefined) lines.push(`  The name is not of the form: ${nameFault}.`);
  if (moreUntaken > 0)
    lines.push(
      `  Remotes have ${moreUntaken} more files that are not taken yet and not listed by their names; it may be one of them.`,
    );
  if (otherCompanies.length === 0)
    lines.push(
      "  If a client says that it sent it: its upload was never closed, or went to another server.",
      "  What went out is forgotten after retention.outbound, and entries of the ledger after retention.ledger.",
    );
  return lines;
}

function forgottenLines(forgotten: readonly ForgottenEntries[]): string[] {
  return forgotten.map((one) => `A file of it may be known no longer: ${forgottenText(one)}.`);
}

function fullDiskLines({ freeBytes, minFreeBytes }: DiskRoom): string[] {
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  return [
    `The disk is full: ${gigabytes(freeBytes)} are free, and storage.minFree asks for ${gigabytes(minFreeBytes)}. Uploads are refused and nothing is fetched until there is room.`,
  ];
}

/** The whole explanation; blocks are separated by empty lines. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const { files, loose, stops, stopFiles, outbound, otherCompanies, fullDisk } = explanation;
  const { remoteFiles, untaken, documents, candidates, now } = explanation;
  const { askedFor, subject, forgotten } = explanation;
  const blocks = [
    ...(askedFor === undefined
      ? []
      : [[`There is no ${askedFor}, but with letters of another case ${subject}:`]]),
    ...stops.map((story) => stopLines(story, now)),
    ...files.map((story) => fileLines(story, explanation)),
    ...stopFiles.map((story) => fileLines(story, explanation)),
    ...loose.map((file) => looseLines(file, areRunning(explanation))),
    ...outbound.map((story) => outboundLines(story, now)),
    ...remoteFiles.map(remoteFileLines),
    ...untaken.map(untakenLines),
    ...documents.map(documentLines),
  ];
  if (candidates.length > 0) blocks.push(candidateLines(explanation.subject, candidates));
  if (blocks.length === 0) blocks.push(unknownLines(explanation));
  if (forgotten !== undefined) blocks.push(forgottenLines(forgotten));
  if (fullDisk !== undefined) blocks.push(fullDiskLines(fullDisk));
  if (otherCompanies.length > 0) blocks.push([`Found in another company: ${otherCompanies.join(", ")}.`]);
  return blocks.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
}
