/** An explanation as text for operators, line by line. */
import { type ForgottenEntries, forgottenText, prunedTextOf } from "../../domain/retention/pruned-text.ts";
import { basename } from "node:path";
import { hasControlCharacterInName, isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { type FileState, isDecidedState } from "../../domain/files/file-state.ts";
import { type ErrorCode, type Fault, reasonCodeOf } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { candidateLines, documentLines, remoteFileLines, untakenLines } from "./elsewhere-words.ts";
import { deliveryText, outboundLines } from "./outbound-words.ts";
import type { FilesBefore } from "../../store/ledger/file-queries.ts";
import type { FileRepeat, LedgerEntry } from "../../store/ledger/files.ts";
import type { StopSummary } from "../../store/stops/stop-history.ts";
import type {
  DiskRoom,
  EarlierFile,
  Explanation,
  FileStory,
  LooseStory,
  StopStory,
  ToldEvent,
} from "./explanation.ts";
import type { LooseFile, LooseKind } from "../recovery/find-loose-files.ts";
import { counted } from "../../lib/counted.ts";

/** The file stays as it is, yet the same bytes may meet another answer later: a limit, a partner, the state of the stop. */
const mayPassLater: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(["tooLarge", "stopInTransit", "finalState", "stopNotFound", "partnerNotFound"] as const),
  ...(["internal", "overloaded"] as const),
]);

/** The remedy for a refusal, for the host or the administrator, where the reason itself does not say it all. */
const remedies: Partial<Record<ErrorCode, string>> = {
  badFileName: "Send the file again under a name of the form <stopnumber>_CCYYMMDD_HHMMSS.xml.",
  notWellFormed: "The file is damaged or was cut off: correct it and send it again.",
  xsdMismatch: "Correct the element that is named and send the file again under a new time.",
  forbiddenXml: "Send the document without DTD and entities, in the encoding that it says, or in UTF-8.",
  tooLarge: "Have the host do what the reason says, or raise the limit in the section inbound.",
  stopNumberDiffers: "Make the stop number in the name that of the first Stop of the document.",
  companyDiffers: "Send the file to its own company's folder, or correct CompanyCode.",
  superseded:
    "Nothing is lost: a newer file counts. To apply this one all the same, send it under a new time.",
  nameReused: "Send the changed document under a new time in its name.",
  stopInTransit: "The driver is on the way: wait until the stop is closed.",
  finalState: "The stop is done: have the host send a new stop under another number.",
  stopNotFound: "There is nothing to delete: have the host check the number.",
  partnerNotFound: "Import the carrier first.",
  internal: "See the log for this entry.",
};

const stateWords: Readonly<Record<FileState, string>> = {
  waiting: "It waits to be applied",
  retry: "It is to be tried again",
  applied: "Applied",
  refused: "Refused",
  duplicate: "Answered as a duplicate; nothing was applied",
  superseded: "Refused as superseded; nothing was applied",
};

const channelWords: Readonly<Record<string, string>> = {
  sftp: "over SFTP",
  ftp: "over FTP",
  folder: "from a watched folder",
  recovered: "found at start-up under its final name",
};

function channelText(channel: string): string {
  const [kind, name] = channel.split(":");
  if (kind === "remote" && name !== undefined) return `from the remote ${name}`;
  return channelWords[channel] ?? `over ${channel}`;
}

function faultLines(fault: Fault): string[] {
  const line = fault.line === undefined ? "" : ` line ${fault.line}`;
  const path = fault.path === undefined ? "" : ` ${fault.path}`;
  const reason = `  ${reasonCodeOf(fault.code)}${line}${path}: ${fault.message}`;
  const remedy = remedies[fault.code];
  return remedy === undefined ? [reason] : [reason, `      What to do: ${remedy}`];
}

/** The remedy is printed once for each code. */
function reasonLines(faults: readonly Fault[]): string[] {
  const told = new Set<ErrorCode>();
  return faults.flatMap((fault) => {
    const lines = faultLines(fault);
    const isTold = told.has(fault.code);
    told.add(fault.code);
    return isTold ? lines.slice(0, 1) : lines;
  });
}

function receivedLine(entry: LedgerEntry): string {
  const how = channelText(entry.channel);
  const who = entry.userName === null ? "" : ` by user ${entry.userName}`;
  const hash = entry.sha256 === null || entry.sha256 === "" ? "" : `, SHA-256 ${entry.sha256}`;
  return `Received ${isoTime(entry.receivedAt)} ${how}${who}, ${counted(entry.size, "byte")}${hash}.`;
}

function stateLine(story: FileStory): string {
  const { entry, first } = story;
  const when = entry.decidedAt === null ? "" : ` ${isoTime(entry.decidedAt)}`;
  const about =
    entry.stopNbr === null ? "" : ` Stop ${entry.stopNbr}, Function ${entry.stopFunction ?? "unknown"}.`;
  if (entry.state === "applied") {
    const { created, updated, deleted } = entry;
    return `Applied${when}: ${created} created, ${updated} updated, ${deleted} deleted.${about}`;
  }
  if (entry.state === "retry") return `Refused${when}; it is to be tried again.${about}`;
  if (entry.state === "waiting" && entry.faults.length > 0)
    return `It waits to be tried again after a refusal.${about}`;
  const same = first === undefined ? "" : `: the same name and content as entry ${first.id} (${first.state})`;
  return `${stateWords[entry.state]}${when}${same}.${about}`;
}

function repeatLine({ askedAt, state, decidedAt, faults }: FileRepeat): string {
  const codes = [...new Set(faults.map(({ code }) => reasonCodeOf(code)))].join(", ");
  const reasons = codes === "" ? "" : ` (${codes})`;
  const when = decidedAt === null ? "" : ` ${isoTime(decidedAt)}`;
  return `Before that ${state}${when}${reasons}; somebody asked for it to be tried again ${isoTime(askedAt)}.`;
}

const presenceTexts: Readonly<Record<FileStory["presence"], string>> = {
  there: "Its bytes are there",
  absent: "ITS BYTES ARE NOT THERE: restore them from a backup, or have the file sent again",
  removed: "Its bytes were removed",
  notAFile: "What lies there is not a regular file",
  unreadable: "What lies there cannot be read by this user",
};

function placeLines(story: FileStory): string[] {
  const { entry, path } = story;
  const pruned = prunedTextOf(entry);
  if (pruned !== undefined) return [`Its bytes were ${pruned}; they lay in ${path}.`];
  if (entry.removedAt !== null) {
    const who = entry.removedBy ?? "an unknown user";
    return [`Its bytes were removed ${isoTime(entry.removedAt)} by user ${who}; they lay in ${path}.`];
  }
  const isDecided = isDecidedState(entry.state);
  const hadNone = isDecided && entry.sha256 === "" && story.presence === "absent";
  const presence = hadNone ? "There never were bytes of it to file away" : presenceTexts[story.presence];
  const moving = isDecided && !entry.isFiled ? " It is still being filed away." : "";
  return [`${presence}: ${path}.${moving}`];
}

function lineText(before: FilesBefore): string {
  const { earlier, sameTime, first } = before;
  const others = sameTime === 0 ? "" : ` ${sameTime} more have the same time.`;
  if (earlier === 0) return `No file with an earlier time waits before it.${others}`;
  const firstText = first === undefined ? "" : `; the first of them is ${first.name} (entry ${first.id})`;
  const count = counted(earlier, "file goes", "files go");
  return `${count} before it in order${firstText}.${others}`;
}

/** A file that cannot be read is put aside, and keeps back the later ones of its stop. */
function earlierText({ id, name, presence }: EarlierFile): string {
  const first = `${name} (entry ${id}) of the same stop goes first`;
  if (presence === "there") return `${first}.`;
  return `${first}, and cannot be read now: this one waits until it can, or is given up (inbound.giveUpAfterMs).`;
}

/** It is in no ledger yet, and keeps back the later ones of its stop all the same. */
function inFolderText({ path, isReadable }: LooseFile): string {
  return isReadable
    ? `${path} of the same stop goes first, and is not whole: this one waits until its writer has finished it, or it has not changed for inbound.incompleteGraceMs.`
    : `${path} of the same stop goes first, and cannot be read: this one waits until it can, or for inbound.giveUpAfterMs.`;
}

function waitingLines(story: FileStory, daemonPid: number | undefined): string[] {
  const { before, presence, ofSameStop = [], inFolders = [] } = story;
  if (before === undefined) return [];
  const isFirst = before.earlier === 0 && inFolders.length === 0;
  const lines = [
    ...(isFirst || before.earlier > 0 ? [lineText(before)] : []),
    ...inFolders.map(inFolderText),
    ...ofSameStop.map(earlierText),
  ];
  const { held = [] } = story;
  if (daemonPid === undefined)
    lines.push("The daemon is not running: the file is taken up at its next start.");
  else if (held.length > 0) lines.push(...held);
  else if (presence === "unreadable")
    lines.push(
      "The daemon keeps trying to read it; the later files of its stop wait for it. Give its user the right to read the file: the log names the fault.",
    );
  return lines;
}

type Told = Pick<Explanation, "daemonPid" | "now">;

/** One fault that only the host can correct is enough for the same answer again. */
function canPassLater({ state, faults }: LedgerEntry): boolean {
  return state === "refused" && faults.length > 0 && faults.every(({ code }) => mayPassLater.has(code));
}

function fileLines(story: FileStory, { daemonPid, now }: Told): string[] {
  const { entry } = story;
  const lines = [
    receivedLine(entry),
    stateLine(story),
    ...reasonLines(entry.faults),
    ...story.repeats.map(repeatLine),
    ...waitingLines(story, daemonPid),
    ...placeLines(story),
    ...story.goesOut.map((delivery) => deliveryText(delivery, now)),
  ];
  if (canPassLater(entry) && story.presence === "there") {
    lines.push(`Once the cause is gone, \`dropgate file retry ${entry.id}\` tries it again.`);
  }
  if (story.laterStop !== undefined) lines.splice(2, 0, `One of its further Stops is ${story.laterStop}.`);
  const title = `${entry.name}, company ${story.company}, ledger entry ${entry.id}`;
  return [title, ...lines.map((line) => `  ${line}`)];
}

function openEndedText({ size }: LooseStory): string {
  const state = size === 0 ? "It is empty" : "It does not end with the end tag of its root";
  return `${state}: if it is not whole it stays here, and later files of its stop wait for it. Let its writer finish it; when it has not changed for inbound.incompleteGraceMs it is refused.`;
}

function inboundText(file: LooseStory, daemonPid: number | undefined): string {
  if (hasControlCharacterInName(basename(file.path)))
    return "Its name has a control character, such as a line break, so it is left alone: rename it.";
  if (!file.isRegular) return "It is a link, folder, FIFO or device, and none of these is taken.";
  if (!file.isReadable)
    return "It cannot be read by the user of the daemon: give it the right, and the file is taken.";
  if (daemonPid === undefined)
    return "It is not in the ledger yet: the daemon is not running and takes it at its start.";
  const taken =
    "It is not in the ledger yet: it is taken when its size and time have not changed for inbound.settleMs; one of a burst of uploads, when those before it are done.";
  return file.isOpenEnded === true ? `${taken} ${openEndedText(file)}` : taken;
}

const looseWords: Readonly<Record<LooseKind, (file: LooseStory, daemonPid: number | undefined) => string>> = {
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

function looseLines(file: LooseStory, daemonPid: number | undefined): string[] {
  const { behind = [] } = file;
  return [
    `${file.path}, company ${file.company}`,
    `  ${counted(file.size, "byte")}, changed ${isoTime(file.modifiedAt)}.`,
    `  ${looseWords[file.kind](file, daemonPid)}`,
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
  const { files, loose, stops, stopFiles, outbound, daemonPid, otherCompanies, fullDisk } = explanation;
  const { remoteFiles, untaken, documents, candidates, now } = explanation;
  const { askedFor, subject, forgotten } = explanation;
  const blocks = [
    ...(askedFor === undefined
      ? []
      : [[`There is no ${askedFor}, but with letters of another case ${subject}:`]]),
    ...stops.map((story) => stopLines(story, now)),
    ...files.map((story) => fileLines(story, explanation)),
    ...stopFiles.map((story) => fileLines(story, explanation)),
    ...loose.map((file) => looseLines(file, daemonPid)),
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
