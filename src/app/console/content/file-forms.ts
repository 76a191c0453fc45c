/**
 * A file's stops in their forms: as the file before had them, as this one sent them, as they are stored now.
 *
 * Only bytes that a parser thread has read before are parsed here, by their hash: what takes a parser down was refused
 * there, and takes down no thread of the console.
 */
import { createHash } from "node:crypto";
import { close as closeCallback } from "node:fs";
import { promisify } from "node:util";
import type {
  FieldForms,
  FileForms,
  FileLink,
  StopForms,
} from "../../../endpoints/http/console/pages/file/file-view.ts";
import { prepareInstruction } from "../../../documents/pool/prepared-document.ts";
import { readStopDocument } from "../../../documents/reading/read-stop-document.ts";
import type { StopChange } from "../../../domain/stop/stop-change.ts";
import { whereabouts } from "../../../inbound/explain/tell-file.ts";
import type { Locations } from "../../../inbound/places/locations.ts";
import { type ErrorCode, unlessMissing } from "../../../lib/errors.ts";
import { openRegularFile } from "../../../lib/files/open-regular-file.ts";
import type { Reader } from "../../../store/database/database.ts";
import { listFiles } from "../../../store/ledger/file-lists.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import { findStoredStop, type StoredStop } from "../../../store/stops/stop-queries.ts";
import { type FieldDifference, differenceOfStops } from "../../admin/stops/stop-difference.ts";
import { readAtBegin } from "./file-lines.ts";

const close = promisify(closeCallback);

/** Larger documents are not parsed here: it would keep others waiting. */
const maxBytes = 1024 * 1024;
const maxStops = 10;
const maxFields = 100;
const maxValueLength = 200;
const formerSearched = 20;

/** Refusals of documents that were read whole before. */
const refusedAfterReading: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(["companyDiffers", "stopNumberDiffers", "nameReused", "superseded"] as const),
  ...(["stopInTransit", "finalState", "stopNotFound", "partnerNotFound", "badFileName"] as const),
]);

function wasRead({ state, faults }: LedgerEntry): boolean {
  if (state === "applied" || state === "duplicate" || state === "superseded") return true;
  return state === "refused" && faults.every(({ code }) => refusedAfterReading.has(code));
}

type WhyNone = Extract<FileForms, { kind: "none" }>["why"];

/** The bytes of a small file, or why they are not taken. */
async function bytesOf(path: string, entry: LedgerEntry): Promise<Buffer | WhyNone> {
  if (entry.size > maxBytes) return "tooLarge";
  const file = await openRegularFile(path).catch(unlessMissing);
  if (file === undefined) return "absent";
  try {
    const bytes = await readAtBegin(file.fd, maxBytes + 1);
    const isSame = createHash("sha256").update(bytes).digest("hex") === entry.sha256;
    return isSame ? bytes : "changed";
  } finally {
    await close(file.fd);
  }
}

async function changesOf(locations: Locations, entry: LedgerEntry): Promise<readonly StopChange[] | WhyNone> {
  if (!wasRead(entry)) return "notRead";
  const { path, presence } = await whereabouts({ locations }, entry);
  if (presence !== "there") return "absent";
  const bytes = await bytesOf(path, entry);
  if (typeof bytes === "string") return bytes;
  const outcome = readStopDocument(bytes);
  // An early fault, such as of the name, may have hidden one of the document.
  if (outcome.kind === "refused") return "notRead";
  return outcome.document.instructions.map((instruction) => prepareInstruction(instruction).change);
}

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength)}…`;
}

type Values = Record<"former" | "sent" | "stored", unknown>;

/** Assignments stand in columns of their own, which count. */
function isOfBody({ path }: FieldDifference): boolean {
  return !path.startsWith("stopAssignment");
}

interface Forms {
  /** JSON of the stop in the file before. */
  readonly former: string | undefined;
  readonly sent: StopChange;
  readonly stored: StoredStop | undefined;
}

/** The fields that differ between any two of the forms. */
function fieldFormsOf({ former, sent, stored }: Forms): readonly FieldForms[] {
  const fields = new Map<string, Values>();
  const before = former === undefined ? [] : differenceOfStops(former, sent.stopJson);
  for (const { path, before: was, after } of before.filter(isOfBody))
    fields.set(path, { former: was, sent: after, stored: stored && after });
  const since = stored === undefined ? [] : differenceOfStops(sent.stopJson, stored.body);
  for (const { path, before: was, after } of since.filter(isOfBody))
    fields.set(path, { former: former && was, ...fields.get(path), sent: was, stored: after });
  const carrier = sent.index.carrierCode;
  if (sent.index.hasStopAssignment && stored !== undefined && (carrier ?? "") !== (stored.carrierCode ?? ""))
    fields.set("stopAssignment.carrierCode", {
      ...{ former: undefined, sent: carrier, stored: stored.carrierCode ?? undefined },
    });
  return [...fields].map(([path, values]) => {
    const [was, is, now] = [shown(values.former), shown(values.sent), shown(values.stored)];
    return {
      path,
      ...(was === undefined ? {} : { former: was }),
      ...(is === undefined ? {} : { sent: is }),
      ...(now === undefined ? {} : { stored: now }),
    };
  });
}

interface FormsDeps {
  readonly read: Reader;
  readonly locations: Locations;
  readonly linkOf: (entry: LedgerEntry) => FileLink;
}

interface FormerFile {
  readonly entry: LedgerEntry;
  readonly changes: readonly StopChange[];
}

/** The file that was applied to the stop before, with its changes as far as they can be read. */
async function formerOf(
  { read, locations }: FormsDeps,
  entry: LedgerEntry,
  stopNbr: string,
): Promise<FormerFile | undefined> {
  const { companyId, id: beforeId } = entry;
  const before = { companyId, stopNbr, states: ["applied"], beforeId, limit: formerSearched } as const;
  const [former] = await listFiles(read, before);
  if (former === undefined) return undefined;
  const changes = await changesOf(locations, former);
  return { entry: former, changes: typeof changes === "string" ? [] : changes };
}

async function formsOfStop(deps: FormsDeps, entry: LedgerEntry, sent: StopChange): Promise<StopForms> {
  const { companyId } = entry;
  const { stopNbr } = sent;
  const stored = await findStoredStop(deps.read, { companyId, stopNbr });
  const found = await formerOf(deps, entry, stopNbr);
  const before = found?.changes.find((change) => change.stopNbr === stopNbr);
  const isDeletion = sent.function === "02";
  const fields = isDeletion ? [] : fieldFormsOf({ former: before?.stopJson, sent, stored });
  return {
    ...{ stopNbr, stopFunction: sent.function, isStored: stored !== undefined },
    former: found && { ...deps.linkOf(found.entry), isRead: before !== undefined },
    fields: fields.slice(0, maxFields),
    moreFields: Math.max(0, fields.length - maxFields),
  };
}

/** The forms of the stops of a file, the first ten. */
export async function formsOfFile(deps: FormsDeps, entry: LedgerEntry): Promise<FileForms> {
  const changes = await changesOf(deps.locations, entry);
  if (typeof changes === "string") return { kind: "none", why: changes };
  const stops: StopForms[] = [];
  for (const sent of changes.slice(0, maxStops)) stops.push(await formsOfStop(deps, entry, sent));
  return { kind: "shown", stops, moreStops: Math.max(0, changes.length - maxStops) };
}
