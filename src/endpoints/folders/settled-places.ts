/** Gives settled files their places in `inbound/` or its `.again`, and removes their sources. */
import { join } from "node:path";
import type { Inbox } from "../../inbound/places/inbox.ts";
import { asideFolderName, newAgainName } from "../../inbound/places/place-arrival.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import type { SettledFile } from "./candidates.ts";
import type { PlaceOutcome } from "./place-files.ts";
import { portionsOf, type Settled } from "./settled.ts";
import type { Copied } from "./settled-copies.ts";
import { placeInLine } from "./staying-files.ts";
import { errorOf, placeIn, type TakeThread } from "./take-thread.ts";
import type { Outcomes } from "./taken-files.ts";

export interface SettledPlacesDeps {
  readonly inbox: Pick<Inbox, "reserve" | "release">;
  readonly thread: TakeThread;
}

/** Where files may get their places. */
export interface PlaceFolders {
  readonly inbound: PinnedFolder;
  readonly again: PinnedFolder;
}

/** The two paths of which a file gets one. */
interface Paths {
  readonly name: string;
  readonly final: string;
  readonly again: string;
}

export class SettledPlaces {
  readonly #deps: SettledPlacesDeps;
  readonly #settled: Settled;
  readonly #outcomes: Outcomes;

  constructor(deps: SettledPlacesDeps, settled: Settled, outcomes: Outcomes) {
    this.#deps = deps;
    this.#settled = settled;
    this.#outcomes = outcomes;
  }

  /** Copies are durable. */
  async give(copied: readonly Copied[], to: PlaceFolders): Promise<void> {
    for (const portion of portionsOf(copied)) await this.#givePortion(portion, to);
  }

  async #givePortion(portion: readonly Copied[], to: PlaceFolders): Promise<void> {
    const files = portion.map(({ file: { name, look }, from, mark }) => {
      return { name, look, from, againName: newAgainName(name, mark), stop: placeInLine(name)?.stop };
    });
    const paths = files.map(({ name, againName }) => {
      return { name, final: join(to.inbound.path, name), again: join(to.again.path, againName) };
    });
    const reserved = this.#reserve(paths);
    try {
      const { at: directory, folder } = this.#settled;
      const [inbound, again] = [to.inbound.child("."), to.again.child(".")];
      const aside = folder.isInbox ? to.inbound.child(asideFolderName) : undefined;
      const outcomes = await placeIn(this.#deps.thread, { directory, inbound, again, aside, files });
      for (const [index, { file }] of portion.entries()) {
        const path = this.#note(file, outcomes[index], paths[index]);
        if (path !== undefined) reserved.delete(path);
      }
    } finally {
      for (const path of reserved) this.#deps.inbox.release(path);
    }
  }

  #reserve(paths: readonly Paths[]): Set<string> {
    const { companyId } = this.#settled.folder;
    const reserved = new Set<string>();
    for (const { name, final, again } of paths) {
      for (const path of [final, again]) {
        this.#deps.inbox.reserve(path, { companyId, name });
        reserved.add(path);
      }
    }
    return reserved;
  }

  /** The path that the file has got. */
  #note(file: SettledFile, outcome: PlaceOutcome | undefined, paths: Paths | undefined): string | undefined {
    const outcomes = this.#outcomes;
    if (outcome === undefined || paths === undefined || outcome.kind === "changed")
      outcomes.changed.push(file.name);
    else if (outcome.kind === "behind") outcomes.behind.push(file);
    else if (outcome.kind === "failed") outcomes.failed(file, errorOf(outcome.fault));
    else {
      const isAgain = outcome.kind === "displaced" || outcome.isAgain;
      const path = isAgain ? paths.again : paths.final;
      outcomes.arrived(file, path);
      (outcome.kind === "displaced" ? outcomes.changed : outcomes.removed).push(file.name);
      return path;
    }
    return undefined;
  }
}
