/**
 * What a unit of work has for others in this process to do, told to them once it is committed. Of deliveries it is only a
 * hint: their queue looks from time to time as well, because another process may have written some.
 */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/**
 * `deliveries`: there are deliveries in the queue that were not, or are due that were not. `loadImports`: there are
 * imported loads to apply.
 */
export type Topic = "deliveries" | "loadImports";

const announced = new WeakMap<Kysely<Tables>, Set<Topic>>();

/** Has those who listen told when the transaction is committed. */
export function announce(tx: Kysely<Tables>, topic: Topic): void {
  const topics = announced.get(tx);
  if (topics === undefined) announced.set(tx, new Set([topic]));
  else topics.add(topic);
}

/** What the transaction has announced. */
export function announcementsOf(tx: Kysely<Tables>): Iterable<Topic> {
  return announced.get(tx) ?? [];
}

export interface Listeners {
  /** Has `listener` called after each commit with such an announcement; it must not throw. Gives the way to end that. */
  listen(topic: Topic, listener: () => void): () => void;
  tell(topics: Iterable<Topic>): void;
}

export function createListeners(): Listeners {
  const listeners = new Set<{ readonly topic: Topic; readonly listener: () => void }>();
  return {
    listen(topic, listener) {
      const entry = { topic, listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    tell(topics) {
      for (const topic of topics) for (const one of listeners) if (one.topic === topic) one.listener();
    },
  };
}
