/**
 * Looks at `.again` of a company's `inbound/`: at the first scan, for what a crash has left there; again when something was found
 * and not handed over; and each minute where nodes share the tree, because any of them may have died before it had entered what
 * it had put there.
 */
import { join } from "node:path";
import { againFolderName } from "../../inbound/places/place-arrival.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import type { Candidates } from "./candidates.ts";
import type { FolderDeps } from "./folder-deps.ts";
import { type ScanVisitor, scanFolder } from "./scan-folder.ts";

export interface AgainLooksDeps extends Pick<FolderDeps, "disk" | "changeClock" | "againEveryMs"> {
  readonly candidates: Pick<Candidates, "hasLeftAgain">;
}

const usualEveryMs = 60_000;

export class AgainLooks {
  readonly #deps: AgainLooksDeps;
  readonly #isInbox: boolean;
  /** By `performance.now()`. */
  #lookedAt: number | undefined;

  constructor(deps: AgainLooksDeps, isInbox: boolean) {
    this.#deps = deps;
    this.#isInbox = isInbox;
  }

  get isDue(): boolean {
    const { candidates, changeClock, againEveryMs = usualEveryMs } = this.#deps;
    if (!this.#isInbox) return false;
    if (this.#lookedAt === undefined || candidates.hasLeftAgain) return true;
    return changeClock !== undefined && performance.now() - this.#lookedAt >= againEveryMs;
  }

  /** Its entries go to the visitor of the folder, by their paths from there. Rejects when it cannot be read. */
  async scan(at: string, { isOurs, visit }: ScanVisitor): Promise<void> {
    const { disk, candidates } = this.#deps;
    candidates.hasLeftAgain = false;
    const inAgain = (name: string) => `${againFolderName}/${name}`;
    try {
      await scanFolder(disk, join(at, againFolderName), {
        isOurs: (name) => isOurs(inAgain(name)),
        visit: (name, entry) => visit(inAgain(name), entry),
      });
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") {
        candidates.hasLeftAgain = true;
        throw error;
      }
    }
    this.#lookedAt = performance.now();
  }
}
