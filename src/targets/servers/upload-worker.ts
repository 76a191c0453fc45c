/**
 * The client of an upload target, in a thread: does its jobs, each over a connection of its own, which it keeps for some
 * seconds for the next one. Whatever a server does to the libraries happens here; the main thread ends this one when a job
 * is over its time.
 */
import { KeptSessions, loadSession } from "../../remote/kept-sessions.ts";
import { anyFault } from "../../remote/network-faults.ts";
import type { RemoteSession } from "../../remote/remote-session.ts";
import type { ThreadClient } from "../../remote/client-thread.ts";
import type { FromJobThread, ToJobThread } from "../../remote/thread-jobs.ts";
import { outcomeOf, TransferFault } from "../../remote/transfer-fault.ts";
import { uploadFile } from "./upload-files.ts";
import type { FromThread, ToThread, UploadJob, UploadSettings, UploadStep } from "./upload-messages.ts";
import type { DeliveryOutcome } from "../../outbound/target.ts";

interface Job {
  readonly id: number;
  session: RemoteSession | undefined;
  isCancelled: boolean;
  bytes: PromiseWithResolvers<Uint8Array> | undefined;
}

type Send = (message: FromJobThread<FromThread, DeliveryOutcome>) => void;

class UploadWorker implements ThreadClient {
  readonly #send: Send;
  readonly #settings: UploadSettings;
  readonly #jobs = new Map<number, Job>();
  readonly #kept: KeptSessions;

  constructor(settings: UploadSettings, newSession: () => RemoteSession, send: Send) {
    this.#send = send;
    this.#settings = settings;
    this.#kept = new KeptSessions(newSession, settings.server.times.keepMs);
  }

  receive(message: ToJobThread<ToThread>): void {
    if (message.kind === "deliver") void this.#run(message.id, (job) => this.#deliver(job, message.job));
    else if (message.kind === "probe") void this.#run(message.id, (job) => this.#probe(job, message.job));
    else this.#answer(message);
  }

  #stepsOf({ id }: Job): (step: UploadStep) => void {
    return (step) => this.#send({ kind: "step", id, step });
  }

  #answer(message: ToJobThread<ToThread> & { readonly kind: "bytes" | "noBytes" | "cancel" }): void {
    const job = this.#jobs.get(message.id);
    if (job === undefined) return; // done meanwhile
    if (message.kind === "bytes") {
      job.bytes?.resolve(message.bytes);
      return;
    }
    job.isCancelled = true;
    job.bytes?.reject(new TransferFault("connectionLost", "The attempt was given up."));
    if (message.kind === "cancel") job.session?.destroy();
  }

  end(): void {
    this.#kept.endAll();
  }

  async #run(id: number, work: (job: Job) => Promise<DeliveryOutcome>): Promise<void> {
    const job: Job = { id, session: undefined, isCancelled: false, bytes: undefined };
    this.#jobs.set(id, job);
    const outcome = await this.#outcome(job, work);
    this.#jobs.delete(id);
    this.#send({ kind: "done", id, outcome });
  }

  async #outcome(job: Job, work: (job: Job) => Promise<DeliveryOutcome>): Promise<DeliveryOutcome> {
    const { server } = this.#settings;
    const where = `${server.host}:${server.port}`;
    const secrets = [server.password, server.kind === "sftp" ? server.passphrase : undefined];
    try {
      return await work(job);
    } catch (error) {
      const fault = anyFault(error, where, secrets);
      // Its state is not known after a fault of the connection; after an answer of the server it is.
      if (job.session !== undefined && isOfConnection(fault)) job.session.destroy();
      return outcomeOf(fault);
    } finally {
      this.#kept.keep(job.session);
    }
  }

  /** A session for the job: its own, one that was kept, or a new one. */
  async #open(job: Job): Promise<RemoteSession> {
    if (job.session?.isOpen === true) return job.session;
    const session = this.#kept.take();
    job.session = session;
    if (!session.isOpen) await session.open(this.#stepsOf(job));
    return session;
  }

  /** Opens and enters; a kept connection that turns out to be dead is replaced by a new one, once. */
  async #enter(job: Job, inner: string | undefined): Promise<RemoteSession> {
    const isKept = !this.#kept.isEmpty;
    try {
      const session = await this.#open(job);
      this.#stepsOf(job)("looking at the folder");
      const { directory, makeFolders } = this.#settings;
      await session.enter({ directory, inner, makesFolders: makeFolders });
      return session;
    } catch (error) {
      const isDead = error instanceof TransferFault && isOfConnection(error);
      if (!isKept || !isDead || job.isCancelled) throw error;
      job.session?.destroy();
      return await this.#enter(job, inner);
    }
  }

  async #removeLeftovers(job: Job, { leftovers }: UploadJob): Promise<void> {
    for (const { directory, temporaryName } of leftovers) {
      try {
        const session = await this.#enter(job, directory);
        await session.remove(temporaryName);
      } catch (error) {
        // Where it may not be removed it stays; the delivery does not depend on it.
        if (job.session?.isOpen !== true) throw error;
      }
    }
  }

  async #deliver(job: Job, upload: UploadJob): Promise<DeliveryOutcome> {
    await this.#removeLeftovers(job, upload);
    const session = await this.#enter(job, upload.directory);
    for (const [index, file] of upload.files.entries()) {
      const bytes = await this.#want(job, index);
      const placed = await uploadFile(session, file, { bytes, step: this.#stepsOf(job) });
      if (placed === "taken") return { kind: "nameTaken", name: file.name };
    }
    return { kind: "delivered" };
  }

  async #want(job: Job, index: number): Promise<Uint8Array> {
    if (job.isCancelled) throw new TransferFault("connectionLost", "The attempt was given up.");
    job.bytes = Promise.withResolvers<Uint8Array>();
    this.#send({ kind: "want", id: job.id, index });
    return await job.bytes.promise;
  }

  /** Uploads a file, renames it, as a delivery would, and removes it. */
  async #probe(job: Job, upload: UploadJob): Promise<DeliveryOutcome> {
    await this.#removeLeftovers(job, upload);
    const session = await this.#enter(job, undefined);
    const bytes = Buffer.from("probe");
    for (const file of upload.files) {
      await uploadFile(session, file, { bytes, step: this.#stepsOf(job) });
      await session.remove(file.name);
    }
    return { kind: "delivered" };
  }
}

function isOfConnection({ outcome }: TransferFault): boolean {
  return ["connectionLost", "timeout", "protocol", "unreachable"].includes(outcome.fault);
}

export async function createClient(data: unknown, send: Send): Promise<ThreadClient> {
  const settings = data as UploadSettings;
  return new UploadWorker(settings, await loadSession(settings.server), send);
}
