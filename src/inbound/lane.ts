/**
 * The files of one company that wait, in the order in which they are to be applied (decisions 6):
 * time in the name, Function code, stop number, arrival.
 *
 * The time is in the name, the Function code only in the document. So entries are kept in slots, one for each time; a
 * slot with several entries is ordered when each of them has been looked into once. Nothing here does I/O.
 */
import type { PreparedDocument } from "../documents/prepared-document.ts";

/** Where an entry stands within its second. */
export interface LaneKey {
  readonly stopFunction: string;
  readonly stopNbr: string;
}

export interface LaneEntry {
  readonly nameTime: number;
  /** Order of arrival. */
  readonly sequence: number;
  readonly size: number;
  /** Ledger id; an entry without one is not ready. */
  id?: number;
  key?: LaneKey;
  isPreparing: boolean;
  prepared?: PreparedDocument;
}

interface Slot<E extends LaneEntry> {
  readonly time: number;
  entries: E[];
  /** Entries before it are taken. */
  head: number;
  isSorted: boolean;
  /** Entries before it have their keys; so that a second with many files is not searched again and again. */
  keyedUpTo: number;
  /** Entries before it need no look ahead. */
  seenUpTo: number;
}

function compareEntries(a: LaneEntry, b: LaneEntry): number {
  const byFunction = compareText(a.key?.stopFunction ?? "", b.key?.stopFunction ?? "");
  if (byFunction !== 0) return byFunction;
  const byStop = compareText(a.key?.stopNbr ?? "", b.key?.stopNbr ?? "");
  return byStop !== 0 ? byStop : a.sequence - b.sequence;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export class Lane<E extends LaneEntry> {
  readonly #slots = new Map<number, Slot<E>>();
  /** Times of the slots from `#first` on, ascending when not dirty. */
  #times: number[] = [];
  #first = 0;
  #isDirty = false;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(entry: E): void {
    this.#size += 1;
    const slot = this.#slots.get(entry.nameTime);
    if (slot !== undefined) {
      slot.entries.push(entry);
      slot.isSorted = false;
      return;
    }
    const { nameTime: time } = entry;
    this.#slots.set(time, { time, entries: [entry], head: 0, isSorted: false, keyedUpTo: 0, seenUpTo: 0 });
    const last = this.#times.at(-1);
    if (this.#first < this.#times.length && last !== undefined && entry.nameTime < last) this.#isDirty = true;
    this.#times.push(entry.nameTime);
  }

  /** Takes an entry out, because it is looked at again later. */
  remove(entry: E): void {
    const slot = this.#slots.get(entry.nameTime);
    const at = slot?.entries.indexOf(entry, slot.head) ?? -1;
    if (slot === undefined || at < 0) return;
    slot.entries.splice(at, 1);
    slot.keyedUpTo = slot.head;
    slot.seenUpTo = slot.head;
    this.#size -= 1;
    this.#dropIfEmpty(slot);
  }

  /** Entries from the front on, in order as far as it is known. */
  *ahead(): Generator<{ entry: E; isFront: boolean; isOrderKnown: boolean }> {
    this.#sortTimes();
    let isFront = true;
    for (let at = this.#first; at < this.#times.length; at += 1) {
      const slot = this.#slotAt(at);
      this.#sortIfKnown(slot);
      for (let index = this.#firstUnseen(slot); index < slot.entries.length; index += 1) {
        const entry = slot.entries[index];
        if (entry === undefined) continue;
        yield { entry, isFront, isOrderKnown: slot.isSorted };
        if (slot.isSorted) isFront = false;
      }
      isFront = false;
    }
  }

  /** The entry at the front, when it is known which that is and it is ready. */
  takeReady(mayTake: (entry: E) => boolean): E | undefined {
    this.#sortTimes();
    if (this.#first >= this.#times.length) return undefined;
    const slot = this.#slotAt(this.#first);
    if (!this.#sortIfKnown(slot)) return undefined;
    const entry = slot.entries[slot.head];
    if (entry === undefined || entry.prepared === undefined || entry.id === undefined) return undefined;
    if (!mayTake(entry)) return undefined;
    slot.head += 1;
    this.#size -= 1;
    this.#dropIfEmpty(slot);
    return entry;
  }

  /** In a slot whose order is not known yet, those that have been looked into are passed over. */
  #firstUnseen(slot: Slot<E>): number {
    if (slot.isSorted) return slot.head;
    slot.seenUpTo = Math.max(slot.seenUpTo, slot.head);
    for (; slot.seenUpTo < slot.entries.length; slot.seenUpTo += 1) {
      const entry = slot.entries[slot.seenUpTo];
      if (entry?.key === undefined && entry?.isPreparing === false) break;
    }
    return slot.seenUpTo;
  }

  #slotAt(at: number): Slot<E> {
    const slot = this.#slots.get(this.#times[at] ?? Number.NaN);
    if (slot === undefined) throw new Error("a time without its slot");
    return slot;
  }

  #sortTimes(): void {
    if (!this.#isDirty) return;
    this.#times = this.#times.slice(this.#first).sort((a, b) => a - b);
    this.#first = 0;
    this.#isDirty = false;
  }

  /** A slot of one needs no key; one of several needs the key of each. */
  #sortIfKnown(slot: Slot<E>): boolean {
    if (slot.isSorted) return true;
    const isOne = slot.entries.length - slot.head === 1;
    if (!isOne) {
      slot.keyedUpTo = Math.max(slot.keyedUpTo, slot.head);
      while (slot.keyedUpTo < slot.entries.length && slot.entries[slot.keyedUpTo]?.key !== undefined) {
        slot.keyedUpTo += 1;
      }
      if (slot.keyedUpTo < slot.entries.length) return false;
      slot.entries = slot.entries.slice(slot.head).sort(compareEntries);
      slot.head = 0;
      slot.keyedUpTo = 0;
    }
    slot.isSorted = true;
    return true;
  }

  #dropIfEmpty(slot: Slot<E>): void {
    if (slot.head < slot.entries.length) return;
    this.#slots.delete(slot.time);
    if (this.#times[this.#first] === slot.time) {
      this.#first += 1;
      if (this.#first > 1024 && this.#first * 2 > this.#times.length) {
        this.#times = this.#times.slice(this.#first);
        this.#first = 0;
      }
      return;
    }
    this.#times.splice(this.#times.indexOf(slot.time, this.#first), 1);
  }
}
