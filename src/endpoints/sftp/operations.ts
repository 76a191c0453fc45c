/**
 * What each SFTP request does to the file exchange, and its reply. No order and no flow control here: `request-queue.ts`
 * decides when a request is its turn.
 */
import { dirname } from "node:path/posix";
import { ExchangeError, type ExchangeSession, type OpenWriteFlags } from "../../exchange/exchange-session.ts";
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
} from "./reply.ts";
import type { ReadRequest, RefusedRequest, SftpRequest, WriteRequest } from "./request.ts";
import { failureReply } from "./status.ts";
import { maxReadBytes, openFlag } from "./wire.ts";

/** What an operation works on: one SFTP session. */
export interface OperationContext {
  readonly exchange: ExchangeSession;
  readonly handles: HandleTable;
  readonly log: Logger;
}

/** Names in one READDIR answer. */
const entriesPerReply = 100;

/** Every request but WRITE, which may run in a row with its neighbours. */
export type SingleRequest = Exclude<SftpRequest, WriteRequest>;
type RequestOf<Kind extends SingleRequest["kind"]> = Extract<SingleRequest, { kind: Kind }>;
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
  if ((flags & (openFlag.write | openFlag.append)) === 0) {
    return { ...opened, kind: "read", file: await context.exchange.openRead(path) };
  }
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

/** Ends a listing early without minding how. */
async function endListing(folder: OpenFolder): Promise<void> {
  await folder.pages.return?.();
}

/** Closes on the client's word: for an upload this is what makes it complete. */
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

async function read(context: OperationContext, request: ReadRequest): Promise<Reply> {
  const open = context.handles.get(request.handle);
  if (open.kind === "folder") throw new ExchangeError("isADirectory", "");
  if (open.kind === "write" && !open.mayRead) {
    throw new ExchangeError("permissionDenied", "the file was opened for writing only");
  }
  const data = await open.file.read(request.offset, Math.min(request.length, maxReadBytes));
  if (data.length === 0 && request.length > 0) return endOfFileReply(request.id);
  open.bytes += data.length;
  return dataReply(request.id, data);
}

/** The handle a WRITE may go to. */
function writableHandle(handles: HandleTable, name: string): OpenForWriting {
  const open = handles.get(name);
  if (open.kind === "write") return open;
  if (open.kind === "folder") throw new ExchangeError("isADirectory", "");
  throw new ExchangeError("permissionDenied", "the file was opened for reading only");
}

async function runWrite(context: OperationContext, request: WriteRequest): Promise<Reply> {
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
export async function runWrites(context: OperationContext, run: readonly WriteRequest[]): Promise<Reply> {
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

/** As OpenSSH's server: the last part of the path need not be there, the folder that it lies in does. */
async function realPath({ exchange }: OperationContext, request: RequestOf<"realpath">): Promise<Reply> {
  const path = await exchange.realPath(request.path);
  const folder = dirname(path);
  if (folder !== "/" && !(await exchange.stat(folder)).isDirectory)
    throw new ExchangeError("notADirectory", "");
  return realPathReply(request.id, path);
}

function refusalOf(reason: RefusedRequest["reason"]): ExchangeError {
  if (reason instanceof ExchangeError) return reason;
  return new ExchangeError("failure", `A write of this upload could not be understood: ${reason.message}`);
}

async function done(id: number, work: Promise<void>): Promise<Reply> {
  await work;
  return okReply(id);
}

/** Runs one request. Never rejects: what went wrong is the reply. */
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
 * Lets go of everything still open when the session is over. Uploads are not closed: a CLOSE would complete them, and
 * none was received. The exchange turns them into unfinished parts.
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
