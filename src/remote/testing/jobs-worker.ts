/** A thread whose jobs end, hang or take it down, as they are told. */
import { parentPort, threadId } from "node:worker_threads";
import { serveThread } from "../serve-thread.ts";
import type { FromJobThread, ToJobThread } from "../thread-jobs.ts";

export interface TestJob {
  readonly kind: "job";
  readonly id: number;
  /** `wait` ends by `let` or when it is given up, `ignore` by `let` alone. */
  readonly does: "nothing" | "wait" | "ignore" | "loop" | "crash";
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

const ignoring = new Set<number>();
const send = (message: FromJobThread<Begun, TestOutcome>) => parentPort?.postMessage(message);
const done = (id: number, by: TestOutcome["by"]) =>
  send({ kind: "done", id, outcome: { kind: "ended", by } });

function begin({ id, does }: TestJob): void {
  send({ kind: "begun", id, threadId });
  if (does === "nothing") done(id, "itself");
  else if (does === "ignore") ignoring.add(id);
  else if (does === "crash") throw new Error("a bug");
  else if (does === "loop") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

serveThread((message: ToJobThread<TestJob | LetEnd>) => {
  if (message.kind === "job") begin(message);
  else if (message.kind === "let") done(message.id, "let");
  else if (message.kind === "end") send({ kind: "ended" });
  else if (!ignoring.has(message.id)) done(message.id, "cancel");
});
