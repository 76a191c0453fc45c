/** The entrance of the inbound pipeline: endpoints hand over files whose bytes are already durable. */

/**
 * How a file or document came in. `remote:` is followed by the name of the remote. `recovered`: found at start-up under its
 * final name without a ledger entry.
 */
export type Channel = "sftp" | "ftp" | "folder" | `remote:${string}` | "recovered";

/** A complete file: its bytes are durable at `path` and nobody but the pipeline touches them from now on. */
export interface Arrival {
  readonly companyId: number;
  /** The name the host gave, without folder. */
  readonly name: string;
  /** Absolute path at which the bytes lie now. */
  readonly path: string;
  readonly channel: Channel;
  readonly userName?: string;
  readonly size: number;
  /** When it came, milliseconds UTC; the moment at which it is handed over unless given. */
  readonly receivedAt?: number;
  /** In which its path was reserved when it was placed; not told of one that a scan has found, or an earlier version noted. */
  readonly reservation?: Reservation;
  /** When the upload began that is complete now, milliseconds UTC; left out where the way in does not tell. */
  readonly beganAt?: number | undefined;
}

/** Holds the reservations of a company, as long as its work is done here. One that goes and comes back has another one. */
export interface ReservationHolder {
  release(path: string): void;
}

export interface Reservation {
  /** None while another node had the work of the company: a scan of whoever has it then may take the file at any moment. */
  readonly holder: ReservationHolder | undefined;
}

export interface Inbox {
  /**
   * Announces to scans that this path is about to appear and will be handed over, or entered. Call before the rename that
   * makes it visible, and `release` when the rename fails. From now on no receipt of an earlier file of the name is written.
   */
  reserve(path: string, file: Pick<Arrival, "companyId" | "name">): void;
  release(path: string): void;
  /** What holds that which is reserved for the company in this turn of the event loop; undefined while another node has it. */
  holderOf(companyId: number): ReservationHolder | undefined;
  /** Resolves when no receipt of an earlier file of the name is there. For a file whose path is reserved. */
  clearReceipt(file: Pick<Arrival, "companyId" | "name">): Promise<void>;
  /** Whether the path is reserved or in the pipeline. */
  isKnown(path: string): boolean;
  /**
   * Takes files that lie there at the same moment into the pipeline: none of them is decided before all are in line, but for
   * those that are to be entered, which the ledger has some time later. Never rejects; what happens to the files is in the ledger.
   */
  arriveAll(arrivals: readonly Arrival[]): Promise<void>;
  /**
   * Nothing of the company is decided until the returned call is made: for files that lie there at the same moment and are
   * handed over in portions. Rejects only at the end of the process.
   */
  hold(companyId: number): Promise<() => void>;
  /**
   * A file of this name was seen and is not complete yet, or cannot be taken: later files of its stop are not decided
   * until the returned call is made, by whatever way they come in. Call it after the file has been handed over.
   */
  keepBack(companyId: number, name: string): () => void;
  /** Whether another node does the work of the company: its files are entered, and not handed over. */
  isElsewhere(companyId: number): boolean;
  /** The same of a file that was placed: also one whose reservation is not held any more, since the company was elsewhere meanwhile. */
  isToEnter(arrival: Arrival): boolean;
  /**
   * Enters files that lie under their final names in the ledger, for the node that has the company. Resolves when they are in
   * the ledger: from then on nothing of the company is decided before they are in line. Rejects when they are not, or may not be.
   */
  enterElsewhere(arrivals: readonly Arrival[]): Promise<void>;
  /** How many files of the company wait to be decided, or to be filed away. */
  waitingCount(companyId: number): number;
  /** How many of them are not decided. */
  undecidedCount(companyId: number): number;
}

/**
 * Takes what uploads bring. What makes it quick stands behind this interface (`src/exchange/arrivals`): who sends bytes
 * and files here needs to know none of it.
 */
export interface ArrivalSink {
  /** Bytes of files came over a connection. */
  received(bytes: number): void;
  /**
   * The file lies durably under its final name, which is reserved. Returns at once; nobody waits for the pipeline.
   * `isPushed`: its client began it at once when the one before was answered, as who sends all that lies there does.
   */
  arrive(arrival: Arrival, isPushed?: boolean): void;
  /** Hands everything that has arrived to the pipeline, now; what has arrived for one company when it is given. */
  flush(companyId?: number): void;
}

/** The part of the inbox for whoever gives files their names. */
export type Reservations = Pick<Inbox, "reserve" | "clearReceipt" | "holderOf">;
