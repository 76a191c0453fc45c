/**
 * A file by which a daemon tells other processes what it knows, rewritten when that has changed. Nothing depends on it: a crash
 * leaves it behind, and what stands in it says of which run it is.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nodesFolderName } from "../../../config/node-place.ts";
import { unlessMissing } from "../../../lib/errors.ts";
import { rename, rm, writeFile } from "../../../lib/files/changes.ts";
import type { Logger } from "../../../lib/logs/log.ts";

export interface ShownFileDeps {
  readonly path: string;
  /** What it is, as in `the list of held files`. */
  readonly what: string;
  /** Whom it is for, as in `dropgate explain`. */
  readonly whom: string;
  readonly log: Pick<Logger, "warn" | "info">;
}

export class ShownFile {
  readonly #deps: ShownFileDeps;
  /** The text that lies there: undefined when that is not known, null when there is none. */
  #written: string | null | undefined;
  #isFailing = false;

  constructor(deps: ShownFileDeps) {
    this.#deps = deps;
  }

  /**
   * Has the text lie there; null: no file. Never rejects: a full disk lasts for hours, so a failure is logged once when it
   * begins, and once when it ends.
   */
  async show(text: string | null): Promise<void> {
    const { what, whom, log } = this.#deps;
    try {
      await this.#write(text);
      if (this.#isFailing) log.info({}, `${what} can be written again`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, `${what} cannot be written for ${whom}`);
      this.#isFailing = true;
    }
  }

  /** One that stays is of another run: the next daemon writes or removes it. */
  async remove(): Promise<void> {
    await rm(this.#deps.path, { force: true }).catch(() => undefined);
  }

  async #write(text: string | null): Promise<void> {
    const { path } = this.#deps;
    if (text === this.#written) return;
    this.#written = undefined;
    if (text === null) await rm(path, { force: true });
    else {
      await writeFile(`${path}.tmp`, text, { mode: 0o640 });
      await rename(`${path}.tmp`, path);
    }
    this.#written = text;
  }
}

/** What lies there; undefined when there is nothing to tell. */
export async function readShown<Content>(folder: string, fileName: string): Promise<Content | undefined> {
  const text = await readFile(join(folder, fileName), "utf8").catch(unlessMissing);
  return text === undefined ? undefined : (JSON.parse(text) as Content);
}

/** What these nodes show, each by its incarnation: what an earlier process of one has left is not theirs. */
export async function readShownByNodes<Content extends { readonly incarnation?: string | undefined }>(
  stateDir: string,
  fileName: string,
  nodes: ReadonlyMap<string, string>,
): Promise<readonly Content[]> {
  const shown: Content[] = [];
  for (const [name, incarnation] of nodes) {
    const content = await readShown<Content>(join(stateDir, nodesFolderName, name), fileName);
    if (content?.incarnation === incarnation) shown.push(content);
  }
  return shown;
}
