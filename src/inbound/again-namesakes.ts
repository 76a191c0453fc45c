/**
 * Files in `.again` that wait, by their names. A process that has all companies puts a file there because one of its name waits
 * already: when the next start finds that one without an entry, it came first, whatever the time of its copy says. (Of several
 * nodes, those that have not the company put all of its files there.)
 */
import { basename } from "node:path";
import { againFolderName } from "./places/place-arrival.ts";
import type { WaitingFile } from "./lanes/waiting-file.ts";

type Named = Pick<WaitingFile, "companyId" | "name">;

function keyOf({ companyId, name }: Named): string {
  return `${companyId}/${name}`;
}

export class AgainNamesakes {
  readonly #waiting = new Map<string, Set<WaitingFile>>();

  /** Passes over a file that lies elsewhere. */
  add(file: WaitingFile): void {
    if (basename(file.directory) !== againFolderName) return;
    const known = this.#waiting.get(keyOf(file));
    if (known === undefined) this.#waiting.set(keyOf(file), new Set([file]));
    else known.add(file);
  }

  delete(file: WaitingFile): void {
    const known = this.#waiting.get(keyOf(file));
    if (known?.delete(file) === true && known.size === 0) this.#waiting.delete(keyOf(file));
  }

  /** When the first of that name came, milliseconds UTC; undefined when none waits. */
  firstReceivedAt(file: Named): number | undefined {
    const known = this.#waiting.get(keyOf(file));
    return known && Math.min(...[...known].map(({ receivedAt }) => receivedAt));
  }
}
