/** Events of a server (`text/event-stream`) as a browser hears them, but for coming back by itself: a test does that. */
import { get, type IncomingMessage } from "node:http";
import { waitFor } from "./wait-for.ts";

export interface HeardEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

function eventOf(block: string): HeardEvent | undefined {
  const fields = block.split("\n").map((line) => line.match(/^(event|data|id): ?(.*)$/)?.slice(1) ?? []);
  const of = (name: string) => fields.filter(([field]) => field === name).map(([, value = ""]) => value);
  const [event] = of("event");
  return event === undefined ? undefined : { event, data: of("data").join("\n"), id: of("id").at(-1) };
}

export class EventListener {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly heard: HeardEvent[] = [];
  readonly #reply: IncomingMessage;
  #rest = "";
  #isEnded = false;

  constructor(reply: IncomingMessage) {
    this.status = reply.statusCode ?? 0;
    this.headers = reply.headers;
    this.#reply = reply.setEncoding("utf8");
    reply.on("data", (text: string) => this.#take(text));
    reply.on("close", () => {
      this.#isEnded = true;
    });
    reply.on("error", () => undefined);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The id that a browser would send when it comes back. */
  get lastEventId(): string | undefined {
    return this.heard.findLast(({ id }) => id !== undefined)?.id;
  }

  /** The first event that fits, heard already or as soon as it comes. */
  next(what: string, fits: (event: HeardEvent) => boolean): Promise<HeardEvent> {
    return waitFor(what, () => this.heard.find(fits));
  }

  /** Cuts the connection, as a network does. */
  cut(): void {
    this.#reply.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== undefined) this.heard.push(event);
    }
  }
}

/** Asks for the events of an address; resolves with the head of the answer. */
export function listenTo(
  url: string,
  { cookie, lastEventId }: { readonly cookie: string; readonly lastEventId?: string | undefined },
): Promise<EventListener> {
  const back = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const headers = { cookie, accept: "text/event-stream", ...back };
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (reply) => resolve(new EventListener(reply))).on("error", reject);
  });
}
