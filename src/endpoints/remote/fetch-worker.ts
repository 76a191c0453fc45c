/**
 * The client of a remote, in a thread: one connection, kept for some seconds for the next call. Whatever a server does to
 * the libraries happens here; the main thread ends this thread when a call is over its time.
 */
import { randomBytes } from "node:crypto";
import type { DeliveryFault } from "../../domain/outbound/delivery-fault.ts";
import { KeptSessions, loadSession } from "../../remote/kept-sessions.ts";
import { anyFault } from "../../remote/network-faults.ts";
import type { RemoteSession, TakeEntries } from "../../remote/remote-session.ts";
import type { ThreadClient } from "../../remote/client-thread.ts";
import type { FromJobThread, ToJobThread } from "../../remote/thread-jobs.ts";
import type { TransferFault } from "../../remote/transfer-fault.ts";
import { fetchFile, isUntouched } from "./fetch-file.ts";
import type {
  CallOutcome,
  FetchCall,
  FetchSettings,
  FromFetchThread,
  RemoteFile,
  ToFetchThread,
} from "./fetch-messages.ts";

type Send = (message: FromJobThread<FromFetchThread, CallOutcome>) => void;

/** The most bytes of a name that leave room for an addition. */
const longestWithMark = 240;

const noStep = (): void => undefined;
/** Faults of the one file, when the connection still works. */
const fileFaults: ReadonlySet<DeliveryFault> = new Set(["notAllowed", "missingFolder", "refused", "busy"]);

class FetchWorker implements ThreadClient {
  readonly #send: Send;
  readonly #settings: FetchSettings;
  readonly #kept: KeptSessions;
  #session: RemoteSession | undefined;
  #current: { readonly id: number; more: PromiseWithResolvers<boolean> | undefined } | undefined;

  constructor(settings: FetchSettings, newSession: () => RemoteSession, send: Send) {
    this.#send = send;
    this.#settings = settings;
    this.#kept = new KeptSessions(newSession, settings.server.times.keepMs);
  }

  receive(message: ToJobThread<ToFetchThread>): void {
    if (message.kind === "call") void this.#run(message.id, message.call);
    else if (message.id !== this.#current?.id)
      return; // the call has ended meanwhile
    else if (message.kind === "more") this.#current.more?.resolve(message.isWanted);
    else this.#cancel();
  }

  #cancel(): void {
    this.#session?.destroy();
    this.#current?.more?.resolve(false);
  }

  end(): void {
    this.#kept.endAll();
    this.#session?.end();
  }

  async #run(id: number, call: FetchCall): Promise<void> {
    this.#current = { id, more: undefined };
    const outcome = await this.#outcome(id, call);
    this.#current = undefined;
    this.#kept.keep(this.#session);
    this.#send({ kind: "done", id, outcome });
  }

  async #outcome(id: number, call: FetchCall): Promise<CallOutcome> {
    try {
      const session = await this.#enter();
      return call.kind === "list" ? await this.#list(session, id) : await this.#withFile(session, call);
    } catch (error) {
      const fault = this.#faultOf(error);
      this.#session?.destroy();
      return fault.outcome;
    }
  }

  #faultOf(error: unknown): TransferFault {
    const { server } = this.#settings;
    const secrets = [server.password, server.kind === "sftp" ? server.passphrase : undefined];
    return anyFault(error, `${server.kind} ${server.host}:${server.port}`, secrets);
  }

  /** Opens and enters; replaces a kept connection that turns out to be dead by a new one, once. */
  async #enter(): Promise<RemoteSession> {
    const place = { directory: this.#settings.directory, inner: undefined, makesFolders: false };
    let session = this.#kept.take();
    this.#session = session;
    if (session.isOpen) {
      try {
        await session.enter(place);
        return session;
      } catch {
        session.destroy(); // the new one reports what is wrong
      }
      session = this.#kept.take();
      this.#session = session;
    }
    await session.open(noStep);
    await session.enter(place);
    return session;
  }

  async #list(session: RemoteSession, id: number): Promise<CallOutcome> {
    const { moveTo } = this.#settings;
    // Before it fetches a file that it could not move away.
    if (moveTo !== undefined) await session.checkFolder(moveTo);
    const take: TakeEntries = async (entries) => {
      const more = Promise.withResolvers<boolean>();
      if (this.#current?.id === id) this.#current.more = more;
      this.#send({ kind: "portion", id, entries });
      return await more.promise;
    };
    return { kind: "listed", isWhole: await session.list(take) };
  }

  async #withFile(
    session: RemoteSession,
    call: Exclude<FetchCall, { readonly kind: "list" }>,
  ): Promise<CallOutcome> {
    try {
      if (call.kind === "fetch") return await fetchFile(session, call.file, call.path);
      if (!(await isUntouched(session, call.file)))
        return { kind: "changed", why: "it was replaced or removed" };
      if (call.kind === "remove") await session.remove(call.file.name);
      else await this.#move(session, call.file);
      return { kind: "settled" };
    } catch (error) {
      return await this.#ofFile(session, call.file, this.#faultOf(error));
    }
  }

  /** Never overwrites: when the name is taken there, the file gets an addition to it. */
  async #move(session: RemoteSession, { name }: RemoteFile): Promise<void> {
    const { moveTo = "." } = this.#settings;
    const isTaken = await session.isTaken(moveTo, name);
    const kept = Buffer.byteLength(name) <= longestWithMark ? name : name.slice(0, longestWithMark / 4);
    const newName = isTaken ? `${kept}.${randomBytes(6).toString("hex")}` : name;
    await session.move(name, moveTo, newName);
  }

  async #ofFile(session: RemoteSession, file: RemoteFile, fault: TransferFault): Promise<CallOutcome> {
    const { outcome } = fault;
    const isOfFile = fileFaults.has(outcome.fault) || outcome.scope === "delivery";
    if (!isOfFile || !session.isOpen) throw fault;
    if ((await session.look(file.name)) === undefined) return { kind: "changed", why: "it is gone" };
    return { kind: "refused", message: outcome.message };
  }
}

export async function createClient(data: unknown, send: Send): Promise<ThreadClient> {
  const settings = data as FetchSettings;
  return new FetchWorker(settings, await loadSession(settings.server), send);
}
