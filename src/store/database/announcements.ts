/**
 * Announcements of a unit of work to others in this process, made once it is committed. For deliveries they are only a
 * hint: the queue also checks from time to time, because another process may have written some.
 */
import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** `deliveries`: the queue has new deliveries, or some became due. `loadImports`: there are imported loads to apply. */
export type Topic = "deliveries" | "loadImports";

const announced = new WeakMap<Kysely<Tables>, Set<Topic>>();

/** Has the listeners called when the transaction is committed. */
export function announce(tx: Kysely<Tables>, topic: Topic): void {
  const topics = announced.get(tx);
  if (topics === undefined) announced.set(tx, new Set([topic]));
  else topics.add(topic);
}

/** The announcements in the transaction since the last call: those of one unit of work. */
export function takeAnnouncements(tx: Kysely<Tables>): ReadonlySet<Topic> | undefined {
  const topics = announced.get(tx);
  announced.delete(tx);
  return topics;
}

export interface Listeners {
  /**
   * Calls `listener` after each commit with such an announcement; it must not throw. Returns a function that ends that.
   */
  listen(topic: Topic, listener: () => void): () => void;
  tell(topics: Iterable<Topic>): void;
}

/** Keeps who listens, in memory and in this process alone. */
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
