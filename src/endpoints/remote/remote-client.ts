import { siblingModule } from "../../lib/threads/sibling-module.ts";
import type { ListedEntry } from "../../remote/remote-session.ts";
import { ThreadJobs } from "../../remote/thread-jobs.ts";
import type {
  CallOutcome,
  FetchCall,
  FetchSettings,
  FromFetchThread,
  ToFetchThread,
} from "./fetch-messages.ts";

/** Takes a portion of a listing; false when it wants no more. Its rejection ends the listing. */
export type TakePortion = (entries: readonly ListedEntry[]) => Promise<boolean>;

interface Listing {
  readonly take: TakePortion;
  failure: { readonly reason: unknown } | undefined;
}

type FileCall = Exclude<FetchCall, { readonly kind: "list" }>;

/** How long a thread is kept without calls. */
const idleMs = 30_000;

/** A client of a remote, in a thread (`src/remote/thread-jobs.ts`), which starts when it is needed. */
export class RemoteClient {
  readonly #jobs: ThreadJobs<ToFetchThread, FromFetchThread, CallOutcome>;
  readonly #timeoutMs: number;

  /** `timeoutMs` is for one call. */
  constructor(settings: FetchSettings, timeoutMs: number) {
    const { kind, host, port } = settings.server;
    this.#timeoutMs = timeoutMs;
    this.#jobs = new ThreadJobs({
      client: { module: siblingModule("./fetch-worker", import.meta.url), data: settings },
      ...{ where: `${kind} ${host}:${port}`, timeoutMs, idleMs },
    });
  }

  /** Lists the folder and calls `take` with its entries. Rejects as `run` does, and with the fault of `take`. */
  list(take: TakePortion, signal: AbortSignal): Promise<CallOutcome> {
    return this.#run({ kind: "list" }, { take, failure: undefined }, signal);
  }

  /** One call about a file. Rejects with the signal's reason when aborted, and else only for faults of our own. */
  run(call: FileCall, signal: AbortSignal): Promise<CallOutcome> {
    return this.#run(call, undefined, signal);
  }

  close(): Promise<void> {
    return this.#jobs.close();
  }

  async #run(call: FetchCall, listing: Listing | undefined, signal: AbortSignal): Promise<CallOutcome> {
    signal.throwIfAborted();
    if (this.#jobs.isBusy) throw new Error("a remote has one call at a time");
    const { outcome, verdict } = await this.#jobs.run(
      {
        begin: (id) => ({ kind: "call", id, call }),
        hear: (news) => void this.#take(listing, news),
        late: () => `not done within ${this.#timeoutMs} ms (\`timeoutMs\`); it was ${doing(call)}`,
      },
      signal,
    );
    if (listing?.failure !== undefined) throw listing.failure.reason;
    signal.throwIfAborted();
    // A call that succeeds in the last moment has succeeded.
    const isFailure = outcome.kind === "failed" || outcome.kind === "listed";
    return isFailure ? (verdict ?? outcome) : outcome;
  }

  async #take(listing: Listing | undefined, { id, entries }: FromFetchThread): Promise<void> {
    let isWanted = false;
    try {
      isWanted = !this.#jobs.isGivenUp(id) && (await listing?.take(entries)) === true;
    } catch (error) {
      if (listing !== undefined) listing.failure = { reason: error };
    }
    this.#jobs.post({ kind: "more", id, isWanted });
  }
}

function doing(call: FetchCall): string {
  if (call.kind === "list") return "listing the folder";
  const verbs = { fetch: "fetching", remove: "removing", move: "moving" } as const;
  return `${verbs[call.kind]} ${call.file.name}`;
}
