/**
 * The files of one company that wait, in the order in which they are to be applied
 * (specification/file-exchange.md#order): time in the name, Function code, stop number, arrival.
 *
 * The time is in the name, the Function code only in the document. So entries are kept in slots, one for each time; a
 * slot with several entries is ordered once each of them has been read. Nothing here does I/O.
 */
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";

/** Where an entry stands within its second. */
export interface LaneKey {
  readonly stopFunction: string;
  readonly stopNbr: string;
}

export interface LaneEntry {
  readonly nameTime: number;
  /** Milliseconds UTC; of two of the same moment the lower `sequence` came first. */
  readonly receivedAt: number;
  readonly sequence: number;
  readonly size: number;
  /** Ledger id; an entry without one is not ready. */
  id: number | undefined;
  // Known when its turn comes near: most of those that wait have no room for it yet.
  key?: LaneKey | undefined;
  isPreparing?: boolean;
  prepared?: PreparedDocument | undefined;
}

class Slot<E extends LaneEntry> {
  readonly time: number;
  entries: E[];
  /** Entries before it are taken. */
  head = 0;
  isSorted = false;
  /** Entries before it have their keys; so that a second with many files is not searched again and again. */
  keyedUpTo = 0;
  /** Entries before it need not be read ahead. */
  seenUpTo = 0;

  constructor(entry: E) {
    this.time = entry.nameTime;
    this.entries = [entry];
  }
}

/** Within one second: by Function, stop number, arrival. */
export function compareEntries(a: LaneEntry, b: LaneEntry): number {
  const byFunction = compareText(a.key?.stopFunction ?? "", b.key?.stopFunction ?? "");
  if (byFunction !== 0) return byFunction;
  const byStop = compareText(a.key?.stopNbr ?? "", b.key?.stopNbr ?? "");
  return byStop !== 0 ? byStop : a.receivedAt - b.receivedAt || a.sequence - b.sequence;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export class Lane<E extends LaneEntry> {
  /** Most times have one file: it becomes a slot when its turn comes near or another joins it. */
  readonly #slots = new Map<number, Slot<E> | E>();
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
    if (this.#slots.has(entry.nameTime)) {
      const slot = this.#slotOf(entry.nameTime);
      slot.entries.push(entry);
      slot.isSorted = false;
      return;
    }
    this.#slots.set(entry.nameTime, entry);
    const last = this.#times.at(-1);
    if (this.#first < this.#times.length && last !== undefined && entry.nameTime < last) this.#isDirty = true;
    this.#times.push(entry.nameTime);
  }

  /** Takes an entry out that is read again later. */
  remove(entry: E): void {
    if (!this.#slots.has(entry.nameTime)) return;
    const slot = this.#slotOf(entry.nameTime);
    const at = slot.entries.indexOf(entry, slot.head);
    if (at < 0) return;
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

  /** In a slot whose order is not known yet, passes over those that have been read. */
  #firstUnseen(slot: Slot<E>): number {
    if (slot.isSorted) return slot.head;
    slot.seenUpTo = Math.max(slot.seenUpTo, slot.head);
    for (; slot.seenUpTo < slot.entries.length; slot.seenUpTo += 1) {
      const entry = slot.entries[slot.seenUpTo];
      if (entry !== undefined && entry.key === undefined && entry.isPreparing !== true) break;
    }
    return slot.seenUpTo;
  }

  #slotAt(at: number): Slot<E> {
    return this.#slotOf(this.#times[at] ?? Number.NaN);
  }

  #slotOf(time: number): Slot<E> {
    const found = this.#slots.get(time);
    if (found === undefined) throw new Error("a time without its slot");
    if (found instanceof Slot) return found;
    const slot = new Slot(found);
    this.#slots.set(time, slot);
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
      // Those that join the second later stand where others were seen: else they would never be read.
      slot.seenUpTo = 0;
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
