/**
 * The order of the files of one stop holds also over those that cannot be fetched now: a file that is still written to on the
 * server, or that could not be fetched, keeps back the later ones of its stop, and no others.
 */
import { stopAndTimeOf } from "../../domain/files/stop-file-name.ts";

/** What a file is called says when it was made; those without a time come last. */
export function timeOfName(name: string): number {
  return stopAndTimeOf(name)?.time ?? Number.POSITIVE_INFINITY;
}

export class StopsKeptBack {
  /** The name of the earliest file that stays, by stop. */
  readonly #earliest = new Map<string, { readonly name: string; readonly time: number }>();

  /** A file that stays where it is for now. */
  add(name: string): void {
    const place = stopAndTimeOf(name);
    if (place === undefined) return;
    const before = this.#earliest.get(place.stop);
    if (before === undefined || place.time < before.time)
      this.#earliest.set(place.stop, { name, time: place.time });
  }

  /** The earlier file of its stop that the file waits for. */
  fileBefore(name: string): string | undefined {
    if (this.#earliest.size === 0) return undefined;
    const place = stopAndTimeOf(name);
    const before = place === undefined ? undefined : this.#earliest.get(place.stop);
    return place !== undefined && before !== undefined && before.time < place.time ? before.name : undefined;
  }
}
