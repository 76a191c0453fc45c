/** What the words about one file of the ledger are: for the command that explains it, and for its page in the console. */
import { prunedTextOf } from "../../domain/retention/pruned-text.ts";
import { type FileState, isDecidedState } from "../../domain/files/file-state.ts";
import { type Move, moveAfterRefusal } from "../../domain/outbound/whose-move.ts";
import { type ErrorCode, type Fault, reasonCodeOf } from "../../lib/errors.ts";
import { stopFunctionText } from "../../domain/stop/stop-change.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { deliveryText } from "./outbound-words.ts";
import type { FilesBefore } from "../../store/ledger/file-queries.ts";
import type { FileRepeat, LedgerEntry } from "../../store/ledger/files.ts";
import type { EarlierFile, Explanation, FileStory } from "./explanation.ts";
import { timeLines } from "./file-times.ts";
import { type Naming, operatorNaming } from "./naming.ts";
import type { LooseFile } from "../recovery/folder-looks.ts";
import { counted } from "../../lib/counted.ts";
import { areRunning, type RunningDaemons } from "../../store/cluster/running-daemons.ts";

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
  partnerNotFound:
    "Import the carrier; or have the host correct the code, and send it again under a new time.",
  internal: "See the log for this entry.",
};

/** What to do about a refusal, in a sentence; undefined where the message of the fault says it all. */
export function remedyOf(code: ErrorCode): string | undefined {
  return remedies[code];
}

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

/** How a file came, such as `over SFTP`. */
export function channelText(channel: string): string {
  const [kind, name] = channel.split(":");
  if (kind === "remote" && name !== undefined) return `from the remote ${name}`;
  return channelWords[channel] ?? `over ${channel}`;
}

function faultLines(fault: Fault): string[] {
  const line = fault.line === undefined ? "" : ` line ${fault.line}`;
  const path = fault.path === undefined ? "" : ` ${fault.path}`;
  const reason = `  ${reasonCodeOf(fault.code)}${line}${path}: ${fault.message}`;
  const remedy = remedyOf(fault.code);
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

function stateLine(story: FileStory, naming: Naming): string {
  const { entry, first } = story;
  const when = entry.decidedAt === null ? "" : ` ${isoTime(entry.decidedAt)}`;
  const about =
    entry.stopNbr === null
      ? ""
      : ` Stop ${entry.stopNbr}, Function ${stopFunctionText(entry.stopFunction ?? "unknown")}.`;
  if (entry.state === "applied") {
    const { created, updated, deleted } = entry;
    return `Applied${when}: ${created} created, ${updated} updated, ${deleted} deleted.${about}`;
  }
  if (entry.state === "retry") return `Refused${when}; it is to be tried again.${about}`;
  if (entry.state === "waiting" && entry.faults.length > 0)
    return `It waits to be tried again after a refusal.${about}`;
  const same =
    first === undefined ? "" : `: the same name and content as ${naming.entry(first.id)} (${first.state})`;
  return `${stateWords[entry.state]}${when}${same}.${about}`;
}

function repeatLine({ askedAt, state, decidedAt, faults }: FileRepeat): string {
  const codes = [...new Set(faults.map(({ code }) => reasonCodeOf(code)))].join(", ");
  const reasons = codes === "" ? "" : ` (${codes})`;
  const when = decidedAt === null ? "" : ` ${isoTime(decidedAt)}`;
  return `Before that ${state}${when}${reasons}; somebody asked for it to be tried again ${isoTime(askedAt)}.`;
}

const presenceTexts: Readonly<Record<FileStory["presence"], string>> = {
  there: "It is kept as it was sent",
  absent: "ITS CONTENT IS MISSING: restore it from a backup, or have the file sent again",
  removed: "Its content was removed",
  notAFile: "What lies there is not a regular file",
  unreadable: "What lies there cannot be read by this user",
};

/** Where its content is, or why it is nowhere; a place is named after it by who may know it. */
function presenceText(story: FileStory): string {
  const { entry, presence } = story;
  const hadNone = isDecidedState(entry.state) && entry.sha256 === "" && presence === "absent";
  return hadNone ? "Nothing of it came that could be filed away" : presenceTexts[presence];
}

function goneText(entry: LedgerEntry): string | undefined {
  const pruned = prunedTextOf(entry);
  if (pruned !== undefined) return `Its content was ${pruned}`;
  if (entry.removedAt === null) return undefined;
  return `Its content was removed ${isoTime(entry.removedAt)} by user ${entry.removedBy ?? "an unknown user"}`;
}

function movingText({ state, isFiled }: LedgerEntry): string {
  return isDecidedState(state) && !isFiled ? " It is still being filed away." : "";
}

function placeLine(story: FileStory): string {
  const { entry, path } = story;
  const gone = goneText(entry);
  if (gone !== undefined) return `${gone}; it lay in ${path}.`;
  return `${presenceText(story)}: ${path}.${movingText(entry)}`;
}

/** How many files go before one that waits, and which is the first of them. */
export function lineText(before: FilesBefore, naming: Naming): string {
  const { earlier, sameTime, first } = before;
  const others = sameTime === 0 ? "" : ` ${sameTime} more have the same time.`;
  if (earlier === 0) return `No file with an earlier time waits before it.${others}`;
  const firstText =
    first === undefined ? "" : `; the first of them is ${first.name} (${naming.entry(first.id)})`;
  const count = counted(earlier, "file goes", "files go");
  return `${count} before it in order${firstText}.${others}`;
}

/** A file that cannot be read is put aside, and keeps back the later ones of its stop. */
function earlierText({ id, name, presence }: EarlierFile, naming: Naming): string {
  const first = `${name} (${naming.entry(id)}) of the same stop goes first`;
  if (presence === "there") return `${first}.`;
  return `${first}, and cannot be read now: this one waits until it can, or is given up (inbound.giveUpAfterMs).`;
}

/** It is in no ledger yet, and keeps back the later ones of its stop all the same. */
export function inFolderText({ path, isReadable }: LooseFile, naming = operatorNaming): string {
  const named = naming.path(path);
  return isReadable
    ? `${named} of the same stop goes first, and is not whole: this one waits until its writer has finished it, or it has not changed for inbound.incompleteGraceMs.`
    : `${named} of the same stop goes first, and cannot be read: this one waits until it can, or for inbound.giveUpAfterMs.`;
}

function waitingLines(story: FileStory, isRunning: boolean, naming: Naming): string[] {
  const { before, presence, ofSameStop = [], inFolders = [] } = story;
  if (before === undefined) return [];
  const isFirst = before.earlier === 0 && inFolders.length === 0;
  const lines = [
    ...(isFirst || before.earlier > 0 ? [lineText(before, naming)] : []),
    ...inFolders.map((file) => inFolderText(file, naming)),
    ...ofSameStop.map((file) => earlierText(file, naming)),
  ];
  const { held = [] } = story;
  if (!isRunning) lines.push("The daemon is not running: the file is taken up at its next start.");
  else if (held.length > 0) lines.push(...held);
  else if (presence === "unreadable")
    lines.push(
      "The daemon keeps trying to read it; the later files of its stop wait for it. Give its user the right to read the file: the log names the fault.",
    );
  return lines;
}

/** When the words are said, and by which daemon. */
export type Told = Pick<Explanation, "daemonPid" | "liveNodes" | "now">;

/** Whether the same bytes may pass later: one fault that only the host can correct is enough for the same answer again. */
function canPassLater({ state, faults }: LedgerEntry): boolean {
  return state === "refused" && faults.length > 0 && faults.every(({ code }) => mayPassLater.has(code));
}

/** The whole story of a file for operators, line by line. */
export function fileLines(story: FileStory, told: Told): string[] {
  const { now } = told;
  const { entry } = story;
  const lines = [
    receivedLine(entry),
    stateLine(story, operatorNaming),
    ...reasonLines(entry.faults),
    ...story.repeats.map(repeatLine),
    ...waitingLines(story, areRunning(told), operatorNaming),
    ...timeLines(entry, story.repeats),
    placeLine(story),
    ...story.goesOut.map((delivery) => deliveryText(delivery, now)),
  ];
  if (canPassLater(entry) && story.presence === "there") {
    lines.push(`Once the cause is gone, \`dropgate file retry ${entry.id}\` tries it again.`);
  }
  if (story.laterStop !== undefined) lines.splice(2, 0, `One of its further Stops is ${story.laterStop}.`);
  const title = `${entry.name}, company ${story.company}, ledger entry ${entry.id}`;
  return [title, ...lines.map((line) => `  ${line}`)];
}

/** The words about a file for its own company: without places of this machine and numbers of the ledger. */
export interface FileWords {
  readonly received: string;
  readonly state: string;
  readonly reasons: readonly ToldReason[];
  /** The remedies of its reasons, each once. */
  readonly remedies: readonly string[];
  /** Whose move it is after its reasons, each once; none where it was not refused. */
  readonly moves: readonly Move[];
  readonly repeats: readonly string[];
  readonly waiting: readonly string[];
  /** How long its steps took, and who collected its receipt. */
  readonly times: readonly string[];
  readonly place: string;
  /** Whether the same bytes may pass once the cause is gone. */
  readonly canPassLater: boolean;
}

/** A reason of refusal with the number by which hosts know it. */
export interface ToldReason extends Pick<Fault, "message" | "line" | "path" | "stopNbr"> {
  readonly reasonCode: number;
}

/** What to do about faults, each remedy once. */
export function remediesOf(faults: readonly Fault[]): readonly string[] {
  const codes = [...new Set(faults.map(({ code }) => code))];
  return codes.map(remedyOf).filter((remedy) => remedy !== undefined);
}

/** The same words as those of the command, in their parts. */
export function wordsOfFile(story: FileStory, daemons: RunningDaemons, naming: Naming): FileWords {
  const { entry } = story;
  return {
    received: receivedLine(entry),
    state: stateLine(story, naming),
    reasons: entry.faults.map(({ code, ...fault }) => ({ ...fault, reasonCode: reasonCodeOf(code) })),
    remedies: remediesOf(entry.faults),
    moves: [...new Set(entry.faults.map(({ code }) => moveAfterRefusal(code)))],
    repeats: story.repeats.map(repeatLine),
    waiting: waitingLines(story, areRunning(daemons), naming),
    times: timeLines(entry, story.repeats),
    place: `${goneText({ ...entry, prunedTo: null }) ?? presenceText(story)}.${movingText(entry)}`,
    canPassLater: canPassLater(entry) && story.presence === "there",
  };
}
