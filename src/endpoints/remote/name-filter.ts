/**
 * Remembers which names a listing had, in two MiB however many they are: it never says no for one that was there, and now
 * and then yes for one that was not (with a million names, once in 70).
 */
import { hash } from "node:crypto";

const bits = 2 ** 24;

function placesOf(name: string): readonly [number, number] {
  const digest = hash("md5", name, "buffer");
  return [digest.readUInt32LE(0) % bits, digest.readUInt32LE(4) % bits];
}

export class NameFilter {
  readonly #bytes = new Uint8Array(bits / 8);

  add(name: string): void {
    for (const place of placesOf(name)) this.#set(place);
  }

  mayHave(name: string): boolean {
    return placesOf(name).every((place) => ((this.#bytes[place >> 3] ?? 0) & (1 << (place & 7))) !== 0);
  }

  #set(place: number): void {
    this.#bytes[place >> 3] = (this.#bytes[place >> 3] ?? 0) | (1 << (place & 7));
  }
}
