/** A thread whose jobs end, hang or take it down, as they are told. */
import { threadId } from "node:worker_threads";
import type { ThreadClient } from "../client-thread.ts";
import type { FromJobThread, ToJobThread } from "../thread-jobs.ts";

export interface TestJob {
  readonly kind: "job";
  readonly id: number;
  /** `wait` ends by `let` or when it is given up, `ignore` by `let` alone; `hangLater` ends, and hangs its thread then. */
  readonly does: "nothing" | "wait" | "ignore" | "loop" | "crash" | "hangLater";
}

/** Ends a job that waits. */
export interface LetEnd {
  readonly kind: "let";
  readonly id: number;
}

/** Said when a job begins. */
export interface Begun {
  readonly kind: "begun";
  readonly id: number;
  readonly threadId: number;
}

export interface TestOutcome {
  readonly kind: "ended";
  readonly by: "itself" | "let" | "cancel";
}

type Send = (message: FromJobThread<Begun, TestOutcome>) => void;

class JobsClient implements ThreadClient {
  readonly #ignoring = new Set<number>();
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  receive(message: ToJobThread<TestJob | LetEnd>): void {
    if (message.kind === "job") this.#begin(message);
    else if (message.kind === "let") this.#done(message.id, "let");
    else if (!this.#ignoring.has(message.id)) this.#done(message.id, "cancel");
  }

  end(): void {
    this.#ignoring.clear();
  }

  #done(id: number, by: TestOutcome["by"]): void {
    this.#send({ kind: "done", id, outcome: { kind: "ended", by } });
  }

  #begin({ id, does }: TestJob): void {
    this.#send({ kind: "begun", id, threadId });
    if (does === "nothing") this.#done(id, "itself");
    else if (does === "ignore") this.#ignoring.add(id);
    else if (does === "crash") throw new Error("a bug");
    else if (does === "loop") hang();
    else if (does === "hangLater") {
      this.#done(id, "itself");
      hang();
    }
  }
}

function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

export async function createClient(_data: unknown, send: Send): Promise<ThreadClient> {
  return new JobsClient(send);
}
