/**
 * Transfers: bytes between a data connection and the file exchange.
 *
 * Upload
 *   opened     the exchange holds an unfinished part; 150 is sent → receiving, broken
 *   receiving  bytes go to the exchange as they come → received, broken
 *   received   the client ended the data connection in order. Without TLS a client that crashed looks the same: unless ALLO
 *              or the content itself shows that all has come, the control connection has to stand a while longer, for a
 *              system ends the connections of a dead process one after the other → done, broken
 *   done       the exchange has closed the upload: it survives a power failure; 226 is sent
 *   broken     the part stays, and can be continued for a day; nothing is processed; 4xx or 5xx is sent
 *
 * Download
 *   sending    bytes go to the system's buffers → sent, broken
 *   sent       the client closes the data connection in order → done; after a moment 226 is sent → unclosed
 *   unclosed   226 is sent, because some clients wait for it; the file may still lie in buffers → done, broken
 *   done       the client has the file: it counts as fetched; 226 is sent unless it was
 *   broken     the file does not count as fetched; 426 is sent unless a reply was
 */
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import type {
  ExchangeEntry,
  OpenWriteFlags,
  ReadHandle,
  WriteHandle,
} from "../../exchange/exchange-session.ts";
import { type DataConnection, openData } from "./data-connection.ts";
import { DocumentEnds } from "./document-ends.ts";
import { clientGone, type FtpSession, type Transfer } from "./ftp-session.ts";
import type { Listing } from "./listing.ts";
import { DataFault, Refusal, type Reply, reply } from "./replies.ts";

/** Small files reach the exchange in one write. */
const gatherBytes = 64 * 1024;
const readBytes = 256 * 1024;
/**
 * How long after the end of the data connection that of the control connection may come when a client crashes: the system
 * closes the two one after the other, in no certain order.
 */
const crashMs = 500;

/** Which bytes of the file an upload brings. */
export type UploadPlace =
  | { readonly kind: "whole" }
  | { readonly kind: "from"; readonly offset: number }
  | { readonly kind: "end" };

/** Throws a `Refusal` when a transfer cannot begin: nothing is opened for it then. */
function assertReady(session: FtpSession): void {
  const { options, control } = session.deps;
  if (!session.isListening) throw new Refusal(425, "Open a data connection with PASV or EPSV first");
  if (session.isDataProtected || options.allowPlain) return;
  const how = control.isSecure ? "send PBSZ 0 and PROT P first" : "send AUTH TLS first";
  throw new Refusal(522, `Data connections have to be protected: ${how}`);
}

/** Runs a transfer over the data connection that the client has asked for. */
async function overData<T>(
  session: FtpSession,
  opening: string,
  run: (data: DataConnection, transfer: Transfer) => Promise<T>,
): Promise<T> {
  const { transfer, port } = session.beginTransfer();
  session.onAbortWhileWaiting(() => port.close());
  try {
    if (transfer.fault !== undefined) throw transfer.fault;
    session.deps.control.send(reply(150, opening));
    const { options, tls } = session.deps;
    const socket = await port.connection();
    session.onAbortWhileWaiting(() => socket.destroy());
    const data = await openData(socket, {
      tls: session.isDataProtected ? tls : undefined,
      requireSessionReuse: options.requireSessionReuse,
      timeoutMs: options.dataTimeoutMs,
    });
    transfer.data = data;
    if (transfer.fault !== undefined) data.abort(transfer.fault);
    return await run(data, transfer);
  } catch (error) {
    const fault = error instanceof DataFault ? error : new DataFault(426, "The transfer failed");
    transfer.data?.abort(fault);
    session.log.debug({ err: error }, "ftp transfer failed");
    // The abort came first and has the reason.
    throw error instanceof DataFault ? (transfer.fault ?? error) : error;
  } finally {
    port.close();
    session.endTransfer();
  }
}

const flagsOf: { readonly [Kind in UploadPlace["kind"]]: OpenWriteFlags } = {
  whole: { create: true, truncate: true, exclusive: false, append: false },
  // REST needs the part that it continues: else the tail alone would become a file.
  from: { create: false, truncate: false, exclusive: false, append: false },
  end: { create: true, truncate: false, exclusive: false, append: true },
};

async function openUpload(session: FtpSession, path: string, place: UploadPlace): Promise<WriteHandle> {
  const upload = await session.exchange.openWrite(path, flagsOf[place.kind]);
  if (place.kind !== "from") return upload;
  try {
    const { size } = await upload.attributes();
    if (place.offset > size)
      throw new Refusal(
        554,
        `REST ${place.offset} lies beyond the ${size} bytes that are here; ask with SIZE`,
      );
    // Cuts the tail of an older, longer upload.
    if (place.offset < size) await upload.change({ size: place.offset });
    return upload;
  } catch (error) {
    await upload.abandon();
    throw error;
  }
}

/** Writes what comes until the client ends it in order; calls `seen` with each chunk. */
async function receiveInto(upload: WriteHandle, data: DataConnection, seen: (chunk: Buffer) => void) {
  let { size: at } = await upload.attributes();
  let gathered: Buffer[] = [];
  let waiting = 0;
  const pass = async (): Promise<void> => {
    const [only] = gathered;
    if (only === undefined) return;
    await upload.write(at, gathered.length === 1 ? only : Buffer.concat(gathered, waiting));
    at += waiting;
    gathered = [];
    waiting = 0;
  };
  try {
    for await (const chunk of data.received()) {
      seen(chunk);
      gathered.push(chunk);
      waiting += chunk.length;
      if (waiting >= gatherBytes) await pass();
    }
  } finally {
    // Also of an interrupted upload: its client goes on from there.
    await pass();
  }
}

/** An upload whose data connection the client has ended. */
interface Ended {
  readonly transfer: Transfer;
  /** Of the whole file, and of this upload. */
  readonly size: number;
  readonly bytes: number;
  /** Whether the content itself shows that nothing is missing; only asked without TLS. */
  readonly isEvident: () => boolean;
}

/** Throws when the client may have crashed instead of ending the upload. */
async function assertMeant(session: FtpSession, { transfer, size, bytes, isEvident }: Ended): Promise<void> {
  const { control } = session.deps;
  const { announcedBytes } = session;
  if (announcedBytes !== undefined && size < announcedBytes)
    throw new DataFault(426, `Only ${size} of the ${announcedBytes} bytes came that ALLO had announced`);
  // Some clients announce less than they send, or nothing: that shows no end. Of a part, some announce the rest.
  const isAsAnnounced = announcedBytes === size || announcedBytes === bytes;
  const isCertain = session.isDataProtected || isAsAnnounced || isEvident();
  if (!isCertain) await wait(crashMs, undefined, { signal: control.gone }).catch(() => undefined);
  // The loop reports an end of the control connection that has come already within one turn.
  await turn();
  await turn();
  if (transfer.fault !== undefined) throw transfer.fault;
  if (control.gone.aborted) throw clientGone();
}

/** STOR and APPE. */
export async function receiveFile(session: FtpSession, path: string, place: UploadPlace): Promise<Reply> {
  assertReady(session);
  const upload = await openUpload(session, path, place);
  const ends = new DocumentEnds();
  let bytes = 0;
  const seen = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (place.kind === "whole" && !session.isDataProtected) ends.take(chunk);
    session.deps.received?.(chunk.length);
  };
  const startedAtMs = Date.now();
  try {
    await overData(session, `Send ${path}`, async (data, transfer) => {
      await receiveInto(upload, data, seen);
      data.endReceiving();
      const { size } = await upload.attributes();
      await assertMeant(session, { transfer, size, bytes, isEvident: () => ends.isWhole });
      await upload.close();
    });
  } catch (error) {
    await upload.abandon();
    session.log.warn({ file: path, bytes }, "upload interrupted");
    throw error;
  }
  session.log.info({ file: path, bytes, tookMs: Date.now() - startedAtMs }, "uploaded");
  return reply(226, `Received ${path}: it is safe`);
}

interface Sent {
  readonly data: DataConnection;
  readonly bytes: number;
  /** The client has closed the connection in order: it has them all. */
  readonly isTaken: boolean;
}

async function sendFrom(file: ReadHandle, data: DataConnection, offset: number): Promise<Sent> {
  let at = offset;
  for (;;) {
    const bytes = await file.read(at, readBytes);
    if (bytes.length === 0) break;
    await data.send(bytes);
    at += bytes.length;
  }
  return { data, bytes: at - offset, isTaken: await data.endSending() };
}

/** Ends the download when the client closes the connection at last: only a client that does so in order has the file. */
async function endLater(session: FtpSession, file: ReadHandle, { data }: Sent): Promise<boolean> {
  session.keepUnclosed(data);
  const isTaken = (await data.hasEndedInOrder()) && !session.deps.control.gone.aborted;
  await (isTaken ? file.close() : file.abandon());
  return isTaken;
}

/** RETR. */
export async function sendFile(session: FtpSession, path: string): Promise<Reply> {
  assertReady(session);
  const file = await session.exchange.openRead(path);
  const offset = session.restartAt;
  const startedAtMs = Date.now();
  let sent: Sent;
  try {
    const { size } = await file.attributes();
    if (offset > size) throw new Refusal(554, `REST ${offset} lies beyond the ${size} bytes of the file`);
    const opening = `Sending ${path} (${size - offset} bytes)`;
    sent = await overData(session, opening, (data) => sendFrom(file, data, offset));
    if (session.deps.control.gone.aborted) throw clientGone();
  } catch (error) {
    await file.abandon();
    throw error;
  }
  const { bytes, isTaken } = sent;
  const report = (isDone: boolean): void => {
    const fields = { file: path, bytes, tookMs: Date.now() - startedAtMs };
    const unclosed = "sent, but the client did not close the connection properly; not counted as a download";
    session.log.info(fields, isDone ? "downloaded" : unclosed);
  };
  if (isTaken) {
    await file.close();
    report(true);
  } else {
    void endLater(session, file, sent).then(report, (error: unknown) =>
      session.log.error({ err: error }, "ending a download failed"),
    );
  }
  return reply(226, `Sent ${path}`);
}

function linesOf(entries: readonly ExchangeEntry[], lineOf: Listing["lineOf"]): Buffer {
  const lines = entries.map(lineOf).filter((line) => line !== undefined);
  return Buffer.from(lines.map((line) => `${line}\r\n`).join(""));
}

/** LIST, NLST and MLSD. */
export async function sendListing(session: FtpSession, open: () => Promise<Listing>): Promise<Reply> {
  assertReady(session);
  const { pages, lineOf } = await open();
  const iterator = pages[Symbol.asyncIterator]();
  try {
    await overData(session, "Here comes the listing", async (data) => {
      for (let page = await iterator.next(); page.done !== true; page = await iterator.next()) {
        const bytes = linesOf(page.value, lineOf);
        if (bytes.length > 0) await data.send(bytes);
      }
      await data.endSending();
      data.letGo();
    });
  } finally {
    await iterator.return?.();
  }
  return reply(226, "That was the listing");
}
