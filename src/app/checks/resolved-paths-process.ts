/** The process that follows links (resolved-paths.ts): paths as arguments, where they lead on its output. */
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** As for open(2), which gives up after as many. */
const mostLinks = 40;

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Where a path leads. What is not there, or cannot be seen by this user, is followed as far as it can be. */
function resolved(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > mostLinks) return path;
    const target = linkAt(path);
    return target === undefined
      ? join(resolved(parent, links), basename(path))
      : resolved(resolve(parent, target), links + 1);
  }
}

process.stdout.write(JSON.stringify(process.argv.slice(2).map((path) => resolved(path))));
