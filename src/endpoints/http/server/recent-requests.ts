/**
 * The last requests, by the ids that clients were told (`X-Request-Id`): for who looks for one and cannot read the log. In
 * memory alone, bounded, and without query, body or address; strangers, who may ask without end, push out nobody else's.
 */
import { BoundedMap } from "../../../lib/bounded-map.ts";

export interface RecentRequest {
  readonly requestId: string;
  /** When it was answered, milliseconds UTC. */
  readonly at: number;
  readonly method: string;
  /** The name of its operation or page; undefined when there was none. */
  readonly route: string | undefined;
  readonly user: string | undefined;
  readonly company: string | undefined;
  /** 0: there was nobody to answer. */
  readonly status: number;
  readonly durationMs: number;
}

const kept = { signedIn: 10_000, strangers: 1_000 };

export class RecentRequests {
  readonly #signedIn = new BoundedMap<RecentRequest>(kept.signedIn);
  readonly #strangers = new BoundedMap<RecentRequest>(kept.strangers);

  note(request: RecentRequest): void {
    const place = request.user === undefined ? this.#strangers : this.#signedIn;
    place.set(request.requestId, request);
  }

  /** The request of exactly that id; undefined for one that has not come since the start, or too long ago. */
  find(requestId: string): RecentRequest | undefined {
    return this.#signedIn.get(requestId) ?? this.#strangers.get(requestId);
  }
}
