/**
 * Where files are copied and placed: in threads, because the calls are synchronous and a share may hang in any of them.
 * One thread for the folders of the companies, which lie on our own disk, and one for each further folder.
 */
import { JsonThread } from "../../lib/threads/json-thread.ts";
import type { CopyOutcome, CopyRequest } from "./copy-files.ts";
import type { PlaceOutcome, PlaceRequest } from "./place-files.ts";
import type { SystemFault } from "./take-calls.ts";

export type TakeRequest =
  | ({ readonly kind: "copy" } & CopyRequest)
  | ({ readonly kind: "place" } & PlaceRequest);

export type TakeAnswer =
  | { readonly kind: "copy"; readonly outcomes: readonly CopyOutcome[] }
  | { readonly kind: "place"; readonly outcomes: readonly PlaceOutcome[] }
  | { readonly kind: "failed"; readonly fault: SystemFault };

export interface TakeThread {
  /** Rejects when the thread crashes. */
  run(request: TakeRequest): Promise<TakeAnswer>;
  close(): Promise<void>;
}

const idleMs = 30_000;

export function createTakeThread(): TakeThread {
  return new JsonThread<TakeRequest, TakeAnswer>({
    module: "./take-worker",
    base: import.meta.url,
    name: "copying",
    idleMs,
  });
}

/** The error to throw for a fault that the thread has reported. */
export function errorOf({ code, message }: SystemFault): Error {
  return Object.assign(new Error(message), code === "unknown" ? {} : { code });
}

/** How many files one message to the thread names: other folders have their turn in between. */
export const filesAtOnce = 128;

async function answerOf(thread: TakeThread, request: TakeRequest): Promise<TakeAnswer> {
  const answer = await thread.run(request);
  if (answer.kind === "failed") throw errorOf(answer.fault);
  return answer;
}

/** Copies files; rejects when it can copy none of them. */
export async function copyIn(thread: TakeThread, request: CopyRequest): Promise<readonly CopyOutcome[]> {
  const answer = await answerOf(thread, { kind: "copy", ...request });
  return answer.kind === "copy" ? answer.outcomes : [];
}

/** Places files; rejects when none of them got its place. */
export async function placeIn(thread: TakeThread, request: PlaceRequest): Promise<readonly PlaceOutcome[]> {
  const answer = await answerOf(thread, { kind: "place", ...request });
  return answer.kind === "place" ? answer.outcomes : [];
}
