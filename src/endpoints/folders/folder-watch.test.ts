import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { watchFolder } from "./folder-watch.ts";

describe("the watch on a folder", () => {
  let folder: string;
  let hints: ReturnType<typeof watchFolder>;
  const seen = new Set<string | null>();
  let tell: () => void = () => undefined;

  const hinted = async (name: string) => {
    while (!seen.has(name)) {
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
  };

  const makeAndNotice = async (name: string) => {
    writeFileSync(join(folder, name), "x");
    await hinted(name);
  };

  /** The watch is set up a little after it was asked for: files are made until the first one is noticed. */
  const isWatching = async () => {
    for (let file = 0; seen.size === 0; file += 1) {
      writeFileSync(join(folder, `first-${file}`), "x");
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "dropgate-hints-"));
    seen.clear();
  });

  afterEach(async () => {
    await hints.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const watch = () => {
    hints = watchFolder(folder, {
      hinted: (name) => {
        seen.add(name);
        tell();
      },
      failed: (error) => {
        throw error;
      },
    });
  };

  it("names files that are made and files that are renamed into place", async () => {
    watch();
    await isWatching();
    writeFileSync(join(folder, ".upload"), "x");
    renameSync(join(folder, ".upload"), join(folder, "a.xml"));
    await hinted("a.xml");
  });

  it("never lists the folder, neither at its start nor when the folder's times change", async () => {
    for (let file = 0; file < 200; file += 1) writeFileSync(join(folder, `${file}.xml`), "x");
    // Listing a folder sets its access time when that is older than the last change.
    utimesSync(folder, 1, new Date());
    watch();
    await isWatching();
    for (const name of ["a.xml", "b.xml", "c.xml"]) await makeAndNotice(name);
    expect(statSync(folder).atimeMs).toBe(1_000);
    utimesSync(folder, 1, new Date());
    for (const name of ["d.xml", "e.xml", "f.xml"]) await makeAndNotice(name);
    await hints.close();
    expect(statSync(folder).atimeMs).toBe(1_000);
  });
});
