/** What a client thread and its owner say to each other besides the messages of the client. */

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
