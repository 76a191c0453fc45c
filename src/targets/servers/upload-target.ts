/**
 * A target that uploads, in a thread (`src/remote/thread-jobs.ts`). Temporary files that a job may have left which
 * lost its connection or its thread are removed by a later one; those of a delivery are besides overwritten by its next
 * attempt.
 */
import { randomBytes } from "node:crypto";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import type {
  Delivery,
  DeliveryFault,
  DeliveryFile,
  DeliveryOutcome,
  Target,
} from "../../outbound/target.ts";
import { checkNames, readBytes, temporaryNameOf } from "../delivery-files.ts";
import { ThreadJobs } from "../../remote/thread-jobs.ts";
import { outcomeOf } from "../../remote/transfer-fault.ts";
import { settledOrAborted } from "../../lib/aborted.ts";
import type {
  FromThread,
  Leftover,
  ToThread,
  UploadFile,
  UploadJob,
  UploadSettings,
  UploadStep,
} from "./upload-messages.ts";

interface UploadTargetSettings extends UploadSettings {
  readonly timeoutMs: number;
  readonly connections: number;
  /** How long a thread is kept without jobs. */
  readonly idleMs: number;
}

/** A job under way. */
interface UploadInHand {
  readonly kind: "deliver" | "probe";
  readonly files: readonly DeliveryFile[];
  readonly job: UploadJob;
  step: UploadStep;
  /** The file in hand. */
  index: number;
}

const maxLeftovers = 100;
/** After these nothing more could be removed. */
const losingFaults: ReadonlySet<DeliveryFault> = new Set(["connectionLost", "timeout", "protocol"]);

/** A target on a server (specification/outbound.md#targets), whose client runs in a thread that is there when needed. */
export class UploadTarget implements Target {
  readonly concurrency: number;
  readonly #jobs: ThreadJobs<ToThread, FromThread, DeliveryOutcome>;
  readonly #timeoutMs: number;
  #leftovers: Leftover[] = [];

  constructor({ connections, timeoutMs, idleMs, ...data }: UploadTargetSettings) {
    const { kind, host, port } = data.server;
    this.concurrency = connections;
    this.#timeoutMs = timeoutMs;
    const client = { module: siblingModule("./upload-worker", import.meta.url), data };
    this.#jobs = new ThreadJobs({ client, where: `${kind} ${host}:${port}`, timeoutMs, idleMs });
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    try {
      checkNames(delivery);
    } catch (error) {
      return outcomeOf(error);
    }
    const files = delivery.files.map(({ name }) => ({
      name,
      temporaryName: temporaryNameOf(delivery, name),
    }));
    const job = { directory: delivery.directory, files, leftovers: this.#takeLeftovers() };
    return await this.#run(
      { kind: "deliver", job, files: delivery.files, step: "connecting", index: 0 },
      signal,
    );
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    const name = `.dropgate-probe.${randomBytes(8).toString("hex")}`;
    const files: UploadFile[] = [{ name: `${name}.done`, temporaryName: `${name}.part` }];
    const job = { directory: undefined, files, leftovers: this.#takeLeftovers() };
    return await this.#run({ kind: "probe", job, files: [], step: "connecting", index: 0 }, signal);
  }

  close(): Promise<void> {
    return this.#jobs.close();
  }

  #run(upload: UploadInHand, signal: AbortSignal): Promise<DeliveryOutcome> {
    return settledOrAborted(this.#outcome(upload, signal), signal);
  }

  async #outcome(upload: UploadInHand, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { kind, job } = upload;
    const { outcome, verdict } = await this.#jobs.run(
      {
        begin: (id) => ({ kind, id, job }),
        hear: (news) => this.#hear(upload, news),
        late: () => `not done within ${this.#timeoutMs} ms; it was ${upload.step}`,
      },
      signal,
    );
    if (outcome.kind === "failed") this.#remember(upload, outcome.fault);
    // Done in the last moment is done.
    return outcome.kind === "delivered" ? outcome : (verdict ?? outcome);
  }

  #hear(upload: UploadInHand, news: FromThread): void {
    if (news.kind === "step") upload.step = news.step;
    else void this.#bring(upload, news);
  }

  async #bring(
    upload: UploadInHand,
    { id, index }: { readonly id: number; readonly index: number },
  ): Promise<void> {
    upload.index = index;
    const file = upload.files[index];
    if (file === undefined) return;
    try {
      // A copy of exactly these bytes, which is given away: a view would take the whole memory it is a view of along.
      const bytes = new Uint8Array(await readBytes(file));
      this.#jobs.post({ kind: "bytes", id, bytes }, [bytes.buffer]);
    } catch (error) {
      this.#jobs.fail(id, outcomeOf(error));
      this.#jobs.post({ kind: "noBytes", id });
    }
  }

  #takeLeftovers(): readonly Leftover[] {
    const taken = this.#leftovers;
    this.#leftovers = [];
    return taken;
  }

  /** What the job has not removed, and what it may have left itself when it lost its connection. */
  #remember({ kind, job, step, index }: UploadInHand, fault: DeliveryFault): void {
    const hasBegun = step === "uploading" || step === "renaming";
    if (!hasBegun) this.#leftovers.push(...job.leftovers);
    const file = job.files[index];
    if (file === undefined || !hasBegun || !losingFaults.has(fault)) return;
    const { directory } = job;
    this.#leftovers.push({ directory, temporaryName: file.temporaryName });
    if (kind === "probe") this.#leftovers.push({ directory, temporaryName: file.name });
    this.#leftovers = this.#leftovers.slice(-maxLeftovers);
  }
}
