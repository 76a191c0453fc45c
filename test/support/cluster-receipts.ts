/**
 * Receipts that hosts of a cluster have deleted, of the round before: none of them comes again, whatever befalls the nodes. The
 * file of an upload that was not answered may still come, with a receipt of its own.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { SentFile } from "./cluster-host.ts";
import { SftpLink } from "./cluster-link.ts";
import type { ClusterSite } from "./cluster-site.ts";
import { receiptName } from "./stop-files.ts";
import { textIfThere } from "./tree-looks.ts";

/** Nodes note each two seconds what hosts have collected; those that die with it in their memory forget it. */
const notedWithinMs = 2_500;

export class DeletedReceipts {
  readonly #site: ClusterSite;
  /** Names of files by company, of the last round. */
  #last: ReadonlyMap<string, readonly string[]> = new Map();
  /** Their texts by their paths. */
  #deleted: ReadonlyMap<string, string> = new Map();

  constructor(site: ClusterSite) {
    this.#site = site;
  }

  /** The files of a round that is over. */
  note(files: readonly SentFile[]): void {
    const byCompany = Map.groupBy(files, ({ company }) => company);
    this.#last = new Map(
      [...byCompany].map(([code, own]) => [code, [...new Set(own.map(({ name }) => name))]]),
    );
  }

  /** The host of each company deletes every second receipt of that round; resolves when its node has noted it. */
  async deleteSome(): Promise<void> {
    const { companies } = this.#site;
    const deleted = await Promise.all(
      companies.map(async ({ code, host }) => {
        const names = (this.#last.get(code) ?? []).filter((_, at) => at % 2 === 0);
        const texts = new Map<string, string>();
        const link = new SftpLink(this.#site, host);
        try {
          for (const name of names) {
            const path = this.#site.path(code, "receipts", receiptName(name));
            texts.set(path, await readFile(path, "utf8"));
            await link.remove(`/receipts/${receiptName(name)}`);
          }
        } finally {
          link.end();
        }
        return [...texts];
      }),
    );
    this.#deleted = new Map(deleted.flat());
    await pause(notedWithinMs);
  }

  /** Those that are there all the same, in words. */
  async cameAgain(): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const [path, text] of this.#deleted)
      if ((await textIfThere(path)) === text)
        problems.push(`${path} was deleted by its host, and came again`);
    return problems;
  }
}
