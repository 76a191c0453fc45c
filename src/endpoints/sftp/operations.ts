/** What each SFTP request does to the file exchange, and its reply. `request-queue.ts` decides when its turn comes. */
import { dirname } from "node:path/posix";
import {
  ExchangeError,
  type ExchangeErrorKind,
  type ExchangeSession,
  type OpenWriteFlags,
  refusalText,
} from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { HandleTable, OpenFolder, OpenForWriting, OpenHandle } from "./handle-table.ts";
import {
  attributesReply,
  dataReply,
  endOfFileReply,
  entriesReply,
  handleReply,
  limitsReply,
  okReply,
  type Reply,
  realPathReply,
  statisticsReply,
  statusReply,
} from "./reply.ts";
import { MalformedPacket, type RequestOf, type SftpRequest } from "./request.ts";
import { maxReadBytes, openFlag, type StatusCode, statusCode } from "./wire.ts";

/** What an operation works on: one SFTP session. */
export interface OperationContext {
  readonly exchange: ExchangeSession;
  readonly handles: HandleTable;
  readonly log: Logger;
}

interface Status {
  readonly code: StatusCode;
  readonly text: string;
}

/** Texts begin with the words that clients search for. */
const statusOfKind: Record<ExchangeErrorKind, Status> = {
  noSuchFile: { code: statusCode.noSuchFile, text: "No such file" },
  permissionDenied: { code: statusCode.permissionDenied, text: "Permission denied" },
  // Version 3 of the protocol has no code for it: clients search for this word.
  alreadyExists: { code: statusCode.failure, text: "Failure" },
  badName: { code: statusCode.failure, text: "Bad file name" },
  notADirectory: { code: statusCode.noSuchFile, text: "Not a directory" },
  isADirectory: { code: statusCode.failure, text: "Is a directory" },
  tooLarge: { code: statusCode.failure, text: "File too large" },
  noSpace: { code: statusCode.failure, text: "No space left" },
  tooManyWaiting: { code: statusCode.failure, text: "Too many files are waiting" },
  unsupported: { code: statusCode.unsupported, text: "Operation unsupported" },
  failure: { code: statusCode.failure, text: "Failure" },
};

/** The reply to a request that failed. Faults other than refusals are logged and hidden from the client. */
function failureReply(id: number, thrown: unknown, log: Logger): Reply {
  if (thrown instanceof ExchangeError) {
    const { code, text } = statusOfKind[thrown.kind];
    // The client learns of every refusal; the log has only those that are not its own fault.
    if (thrown.kind === "failure" && thrown.cause !== undefined)
      log.warn({ err: thrown.cause, reason: thrown.message }, "sftp request failed");
    return statusReply(id, code, refusalText(text, thrown.message));
  }
  if (thrown instanceof MalformedPacket)
    return statusReply(id, statusCode.badMessage, refusalText("Bad message", thrown.message));
  log.error({ err: thrown }, `sftp request failed: ${messageOf(thrown)}`);
  return statusReply(id, statusCode.failure, "Failure: internal error");
}

const entriesPerReply = 100;

/** Every request but WRITE, which may run in a row with its neighbours. */
export type SingleRequest = Exclude<SftpRequest, RequestOf<"write">>;
type Operation<Kind extends SingleRequest["kind"]> = (
  context: OperationContext,
  request: RequestOf<Kind>,
) => Promise<Reply>;

function writeFlagsOf(flags: number): OpenWriteFlags {
  return {
    create: (flags & openFlag.create) !== 0,
    truncate: (flags & openFlag.truncate) !== 0,
    exclusive: (flags & openFlag.exclusive) !== 0,
    append: (flags & openFlag.append) !== 0,
  };
}

async function openFile(context: OperationContext, path: string, flags: number): Promise<OpenHandle> {
  const opened = { path, openedAtMs: Date.now(), bytes: 0 };
  if ((flags & (openFlag.write | openFlag.append)) === 0)
    return { ...opened, kind: "read", file: await context.exchange.openRead(path) };
  const file = await context.exchange.openWrite(path, writeFlagsOf(flags));
  const mayRead = (flags & openFlag.read) !== 0;
  return { ...opened, kind: "write", file, mayRead };
}

async function openFolder(context: OperationContext, path: string): Promise<OpenFolder> {
  const pages = await context.exchange.list(path);
  return { kind: "folder", path, pages: pages[Symbol.asyncIterator](), waiting: [] };
}

async function nextEntries(folder: OpenFolder): Promise<OpenFolder["waiting"]> {
  while (folder.waiting.length === 0) {
    const page = await folder.pages.next();
    if (page.done === true) return [];
    folder.waiting = page.value;
  }
  const entries = folder.waiting.slice(0, entriesPerReply);
  folder.waiting = folder.waiting.slice(entriesPerReply);
  return entries;
}

async function readFolder(context: OperationContext, request: RequestOf<"readdir">): Promise<Reply> {
  const folder = context.handles.get(request.handle);
  if (folder.kind !== "folder") throw new ExchangeError("failure", "the handle is not that of a folder");
  const entries = await nextEntries(folder);
  if (entries.length === 0) return endOfFileReply(request.id);
  return entriesReply(request.id, entries, Date.now() / 1000);
}

async function endListing(folder: OpenFolder): Promise<void> {
  await folder.pages.return?.();
}

/** A CLOSE of the client: it is what makes an upload complete. */
async function closeHandle(context: OperationContext, request: RequestOf<"close">): Promise<Reply> {
  const open = context.handles.take(request.handle);
  if (open.kind === "folder") {
    await endListing(open);
    return okReply(request.id);
  }
  await open.file.close();
  const what = open.kind === "write" ? "uploaded" : "downloaded";
  const tookMs = Date.now() - open.openedAtMs;
  context.log.info({ file: open.path, bytes: open.bytes, tookMs }, what);
  return okReply(request.id);
}

async function attributesOfHandle(context: OperationContext, request: RequestOf<"fstat">): Promise<Reply> {
  const open = context.handles.get(request.handle);
  const attributes =
    open.kind === "folder" ? await context.exchange.stat(open.path) : await open.file.attributes();
  return attributesReply(request.id, attributes);
}

async function changeHandle(context: OperationContext, request: RequestOf<"fsetstat">): Promise<Reply> {
  const open = context.handles.get(request.handle);
  if (open.kind === "write") await open.file.change(request.change);
  else await context.exchange.change(open.path, request.change);
  return okReply(request.id);
}

async function syncHandle(context: OperationContext, request: RequestOf<"fsync">): Promise<Reply> {
  const open = context.handles.get(request.handle);
  if (open.kind === "write") await open.file.sync();
  return okReply(request.id);
}

async function read(context: OperationContext, request: RequestOf<"read">): Promise<Reply> {
  const open = context.handles.get(request.handle);
  if (open.kind === "folder") throw new ExchangeError("isADirectory", "");
  if (open.kind === "write" && !open.mayRead)
    throw new ExchangeError("permissionDenied", "the file was opened for writing only");
  const data = await open.file.read(request.offset, Math.min(request.length, maxReadBytes));
  if (data.length === 0 && request.length > 0) return endOfFileReply(request.id);
  open.bytes += data.length;
  return dataReply(request.id, data);
}

function writableHandle(handles: HandleTable, name: string): OpenForWriting {
  const open = handles.get(name);
  if (open.kind === "write") return open;
  if (open.kind === "folder") throw new ExchangeError("isADirectory", "");
  throw new ExchangeError("permissionDenied", "the file was opened for reading only");
}

async function runWrite(context: OperationContext, request: RequestOf<"write">): Promise<Reply> {
  try {
    const open = writableHandle(context.handles, request.handle);
    await open.file.write(request.offset, request.bytes);
    open.bytes += request.bytes.length;
    return okReply(request.id);
  } catch (error) {
    return failureReply(request.id, error, context.log);
  }
}

/** Runs WRITEs one right after the other; each gets its own reply. Never rejects. */
export async function runWrites(
  context: OperationContext,
  run: readonly RequestOf<"write">[],
): Promise<Reply> {
  const replies: Uint8Array[] = [];
  for (const request of run) replies.push(...(await runWrite(context, request)));
  return replies;
}

const operations: { readonly [Kind in SingleRequest["kind"]]: Operation<Kind> } = {
  open: async (context, { id, path, flags }) =>
    handleReply(id, await context.handles.open(() => openFile(context, path, flags))),
  opendir: async (context, { id, path }) =>
    handleReply(id, await context.handles.open(() => openFolder(context, path))),
  close: closeHandle,
  read,
  readdir: readFolder,
  fstat: attributesOfHandle,
  fsetstat: changeHandle,
  fsync: syncHandle,
  stat: async ({ exchange }, { id, path }) => attributesReply(id, await exchange.stat(path)),
  realpath: realPath,
  statvfs: async ({ exchange }, { id, path }) => statisticsReply(id, await exchange.statistics(path)),
  fstatvfs: async ({ exchange, handles }, { id, handle }) =>
    statisticsReply(id, await exchange.statistics(handles.get(handle).path)),
  limits: async ({ handles }, { id }) => limitsReply(id, handles.maxHandles),
  setstat: async ({ exchange }, { id, path, change }) => done(id, exchange.change(path, change)),
  remove: async ({ exchange }, { id, path }) => done(id, exchange.remove(path)),
  mkdir: async ({ exchange }, { id, path }) => done(id, exchange.makeDirectory(path)),
  rmdir: async ({ exchange }, { id, path }) => done(id, exchange.removeDirectory(path)),
  rename: async ({ exchange }, { id, from, to, mayReplace }) =>
    done(id, exchange.rename(from, to, { mayReplace })),
  refused: async ({ handles }, { reason, writeTo }) => {
    const open = writeTo === undefined ? undefined : handles.find(writeTo);
    if (open?.kind === "write") open.file.fail(refusalOf(reason));
    throw reason;
  },
};

/** As OpenSSH's server does it: the last part of the path need not exist, its folder must. */
async function realPath({ exchange }: OperationContext, request: RequestOf<"realpath">): Promise<Reply> {
  const path = await exchange.realPath(request.path);
  const folder = dirname(path);
  if (folder !== "/" && !(await exchange.stat(folder)).isDirectory)
    throw new ExchangeError("notADirectory", "");
  return realPathReply(request.id, path);
}

function refusalOf(reason: RequestOf<"refused">["reason"]): ExchangeError {
  if (reason instanceof ExchangeError) return reason;
  return new ExchangeError("failure", `A write of this upload could not be understood: ${reason.message}`);
}

async function done(id: number, work: Promise<void>): Promise<Reply> {
  await work;
  return okReply(id);
}

/** Runs one request. Never rejects: a failure becomes the reply. */
export async function runRequest<Kind extends SingleRequest["kind"]>(
  context: OperationContext,
  request: RequestOf<Kind>,
): Promise<Reply> {
  try {
    const operation: Operation<Kind> = operations[request.kind];
    return await operation(context, request);
  } catch (error) {
    return failureReply(request.id, error, context.log);
  }
}

/**
 * Ends everything still open when the session is over. Uploads are not closed: a CLOSE would complete them, and none came.
 * The exchange turns them into partial uploads.
 */
export async function abandonHandles(context: OperationContext): Promise<void> {
  for (const open of context.handles.takeAll()) {
    if (open.kind === "write") {
      context.log.warn({ file: open.path, bytes: open.bytes }, "upload interrupted");
      continue;
    }
    const letGo = open.kind === "read" ? open.file.close() : endListing(open);
    // Nothing depends on how a read ends.
    await letGo.catch((error: unknown) => context.log.debug({ err: error }, "closing after the end failed"));
  }
}
