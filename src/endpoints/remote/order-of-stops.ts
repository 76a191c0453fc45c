/**
 * The order of the files of one stop holds also when one of them stays on the server: a file that has not settled, or that
 * cannot be fetched, keeps back the later ones of its stop, and no others.
 */
import { stopAndTimeOf } from "../../domain/files/stop-file-name.ts";

/** The time in the name of a file; names without one come last. */
export function timeOfName(name: string): number {
  return stopAndTimeOf(name)?.time ?? Number.POSITIVE_INFINITY;
}

export class StopsKeptBack {
  /** The name of the earliest file that stays, by stop. */
  readonly #earliest = new Map<string, { readonly name: string; readonly time: number }>();

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
