/** Where paths lead, some of which may be on a share whose server is gone: a process of its own follows the links. */
import { mapConcurrently } from "../../lib/concurrency.ts";
import { askProcess, probeSeconds, probesAtOnce } from "./folder-probe.ts";
import { fileURLToPath } from "node:url";
import { siblingModule } from "../../lib/threads/sibling-module.ts";

/** By the path that was asked for; those without an answer are missing. */
export type ResolvedPaths = ReadonlyMap<string, string>;
export type ResolvePaths = (paths: readonly string[]) => Promise<ResolvedPaths>;

interface ResolveOptions {
  readonly timeoutMs: number;
  /** The program that follows the links; tests put their own in. */
  readonly file?: string;
}

/** With another time, or another program. */
export function createPathResolver({
  timeoutMs,
  file = fileURLToPath(siblingModule("./resolved-paths-process", import.meta.url)),
}: ResolveOptions): ResolvePaths {
  async function ask(paths: readonly string[]): Promise<ResolvedPaths | undefined> {
    const answer = await askProcess({ file, args: paths, timeoutMs });
    if (answer.kind !== "answered") return undefined;
    const found = JSON.parse(answer.output) as readonly string[];
    return new Map(paths.map((path, index) => [path, found[index] ?? path]));
  }
  return async (paths) => {
    const different = [...new Set(paths)];
    const all = await ask(different);
    if (all !== undefined) return all;
    // One of them is silent: each is asked for by itself.
    const single = await mapConcurrently(different, probesAtOnce, async (path) => await ask([path]));
    return new Map(single.flatMap((one) => [...(one ?? [])]));
  };
}

export const resolvePaths: ResolvePaths = createPathResolver({ timeoutMs: probeSeconds * 1_000 });
