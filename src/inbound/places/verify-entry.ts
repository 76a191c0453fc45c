/** Whether the bytes of one ledger entry lie where they should, once, and are those that were received. */
import { isOpenState } from "../../domain/files/file-state.ts";
import type { AccountedFile } from "../../store/ledger/accounted-files.ts";
import { type BytesAt, hashBytesAt } from "./hash-bytes.ts";

export interface LedgerFinding {
  readonly kind: "missing" | "changed" | "twice" | "unreadable";
  readonly location: string;
  readonly message: string;
}

export type EntryCheck =
  | { readonly kind: "inOrder"; readonly size: number }
  | { readonly kind: "withoutBytes" }
  | { readonly kind: "doubtful"; readonly finding: LedgerFinding };

interface EntryCheckOptions {
  readonly pathOf: (location: string) => string;
  readonly buffer: Buffer;
  readonly signal?: AbortSignal;
  /** What lies at a path. Default: `hashBytesAt`. */
  readonly bytesAt?: typeof hashBytesAt | undefined;
}

interface Place {
  readonly location: string;
  readonly bytes: BytesAt;
}

/** A state that does not exist is none of these: the tally reports it. */
function isOpen({ state }: AccountedFile): boolean {
  return state !== undefined && isOpenState(state);
}

/** The content that must be there; undefined while it is not known. */
function expectedHash(file: AccountedFile): string | undefined {
  // What waits in a watched folder may still be replaced by its sender; what is read counts.
  return isOpen(file) || file.sha256 === null || file.sha256 === "" ? undefined : file.sha256;
}

/** A decided file that is not filed yet lies where it came from, or already where it goes. */
function placesOf(file: AccountedFile): readonly string[] {
  const isMoving = !isOpen(file) && !file.isFiled && file.source !== file.location;
  return isMoving ? [file.location, file.source] : [file.location];
}

function doubtful(kind: LedgerFinding["kind"], location: string, message: string): EntryCheck {
  return { kind: "doubtful", finding: { kind, location, message } };
}

function isOneFile(first: BytesAt, second: BytesAt): boolean {
  return first.kind === "file" && second.kind === "file" && first.inode === second.inode;
}

function checkWithoutBytes(file: AccountedFile, places: readonly Place[]): EntryCheck {
  const isDecidedUnread = !isOpen(file) && expectedHash(file) === undefined;
  const unreadable = places.find(({ bytes }) => bytes.kind === "unreadable");
  // What could not be read for its decision need not be readable now; it is there.
  if (isDecidedUnread && unreadable !== undefined) return { kind: "inOrder", size: file.size };
  if (unreadable?.bytes.kind === "unreadable") {
    const message = `the bytes cannot be read (${unreadable.bytes.systemCode}); run this as the user of the daemon`;
    return doubtful("unreadable", unreadable.location, message);
  }
  // A file that was refused unread has a size when there were bytes, and none when it was gone or no regular file.
  const hadNone = isDecidedUnread && (file.sha256 === "" || file.size === 0);
  if (hadNone) return { kind: "withoutBytes" };
  const special = places.find(({ bytes }) => bytes.kind === "special");
  // A link or FIFO waits for its refusal like any other file.
  if (special !== undefined && isOpen(file)) return { kind: "inOrder", size: 0 };
  if (special !== undefined)
    return doubtful("changed", special.location, "this is not a regular file any more");
  const [place = file.location] = places.map(({ location }) => location);
  return doubtful("missing", place, "the bytes are not there");
}

/** Reads the bytes of an entry where they may lie, and says what is wrong, if anything. */
export async function verifyEntry(file: AccountedFile, options: EntryCheckOptions): Promise<EntryCheck> {
  const { bytesAt = hashBytesAt } = options;
  const places: Place[] = [];
  for (const location of placesOf(file)) {
    const bytes = await bytesAt(options.pathOf(location), options.buffer, options.signal);
    places.push({ location, bytes });
  }
  const found = places.filter(({ bytes }) => bytes.kind === "file");
  const expected = expectedHash(file);
  const right = found.filter(
    ({ bytes }) => expected === undefined || (bytes.kind === "file" && bytes.sha256 === expected),
  );
  const [first, second] = right;
  if (first !== undefined && second !== undefined && !isOneFile(first.bytes, second.bytes)) {
    return doubtful("twice", second.location, `the bytes also lie in ${first.location}`);
  }
  if (first?.bytes.kind === "file") return { kind: "inOrder", size: first.bytes.size };
  const [wrong] = found;
  if (wrong === undefined) return checkWithoutBytes(file, places);
  return doubtful(
    "changed",
    wrong.location,
    `the bytes are not those that were received (SHA-256 ${expected})`,
  );
}
