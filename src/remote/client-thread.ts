/**
 * The module of every client thread: runs the client of one server at a time, which its owner names by a module and settings.
 *
 *   serve   answers `changing`, ends the client before, loads the module, makes its client and calls `tellLoaded`
 *   end     ends the client and answers `ended`
 *   other   goes to the client
 */
import { parentPort } from "node:worker_threads";
import { tellLoaded } from "../lib/threads/hosted-worker.ts";

/** Makes the thread run a client; answered with `changing` at once, and with `tellLoaded` when it is loaded. */
export interface ServeClient {
  readonly kind: "serve";
  /** The address of its module. */
  readonly module: string;
  readonly data: unknown;
}

/** To close everything; answered with `ended`. */
export interface EndThread {
  readonly kind: "end";
}

/** That it is about to run another client, and that its connections are closed. */
export interface ThreadState {
  readonly kind: "changing" | "ended";
}

/** A client as its thread sees it. */
export interface ThreadClient {
  receive(message: unknown): void;
  /** Closes its connections; says goodbye where that takes no time. */
  end(): void;
}

/** What a module of a client exports. `send` posts a message to the owner. */
export interface ClientModule {
  createClient(data: unknown, send: (message: unknown) => void): Promise<ThreadClient>;
}

interface Told {
  readonly kind: string;
}

let client: ThreadClient | undefined;
/** Messages that come while a module is loading wait for it. */
let turn: Promise<void> = Promise.resolve();

const send = (message: unknown): void => parentPort?.postMessage(message);
const isServe = (message: Told): message is ServeClient => message.kind === "serve";

async function serve({ module, data }: ServeClient): Promise<void> {
  client?.end();
  client = undefined;
  const { createClient } = (await import(module)) as ClientModule;
  client = await createClient(data, send);
  tellLoaded();
}

function end(): void {
  client?.end();
  client = undefined;
  send({ kind: "ended" } satisfies ThreadState);
}

function obey(message: Told): void {
  if (message.kind === "end") end();
  else client?.receive(message);
}

tellLoaded();
// What a step rejects with goes on unhandled and ends the thread.
parentPort?.on("message", (message: Told) => {
  if (isServe(message)) send({ kind: "changing" } satisfies ThreadState);
  turn = turn.then(() => (isServe(message) ? serve(message) : obey(message)));
});
