import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type Content, contentPath, putContent, sweepContents } from "./content-store.ts";

const never = new AbortController().signal;
const longAgo = new Date(1_000_000);
const beforeMs = Date.now() - 3_600_000;

function contentOf(text: string): Content {
  const bytes = Buffer.from(text);
  return { sha256: createHash("sha256").update(bytes).digest("hex"), bytes };
}

async function putOld(directory: string, text: string): Promise<string> {
  const content = contentOf(text);
  await putContent(directory, content);
  const path = contentPath(directory, content.sha256);
  await utimes(path, longAgo, longAgo);
  return path;
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

const nothing = async () => new Set<string>();

test("a content lies under its hash, for the owner and the group alone", async () => {
  const directory = join(temporaryFolder(), "documents");
  const content = contentOf("one");
  await putContent(directory, content);
  const { sha256 } = content;
  const path = join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  expect(contentPath(directory, sha256)).toBe(path);
  expect(await readFile(path, "utf8")).toBe("one");
  expect((await stat(path)).mode & 0o007).toBe(0);
  expect((await stat(directory)).mode & 0o777).toBe(0o750);
});

test("the same content put by many at once is there once, whole, and leaves nothing beside it", async () => {
  const directory = temporaryFolder();
  const content = contentOf("x".repeat(300_000));
  await Promise.all(Array.from({ length: 20 }, () => putContent(directory, content)));
  expect(await filesIn(directory)).toEqual([content.sha256]);
  expect(await readFile(contentPath(directory, content.sha256))).toEqual(content.bytes);
});

test("a content that is there is not written again, and its age begins anew", async () => {
  const directory = temporaryFolder();
  const path = await putOld(directory, "one");
  const before = await stat(path);
  await putContent(directory, contentOf("one"));
  const after = await stat(path);
  expect(after.ino).toBe(before.ino);
  expect(after.mtimeMs).toBeGreaterThan(beforeMs);
});

test("a file of another size under the name is replaced", async () => {
  const directory = temporaryFolder();
  const path = await putOld(directory, "one");
  await writeFile(path, "on");
  await putContent(directory, contentOf("one"));
  expect(await readFile(path, "utf8")).toBe("one");
});

test("only a hash leads to a place", () => {
  for (const name of ["", "../x", "A".repeat(64), `${"a".repeat(64)}/x`])
    expect(() => contentPath("/somewhere", name)).toThrow("SHA-256");
});

test("the sweep removes what is old and referred to by nothing, and leftovers of a crash", async () => {
  const directory = temporaryFolder();
  const referred = contentOf("referred").sha256;
  const [gone, , leftover] = [
    await putOld(directory, "gone"),
    await putOld(directory, "referred"),
    join(dirname(await putOld(directory, "beside")), ".beside.tmp"),
  ];
  await writeFile(leftover, "half");
  await utimes(leftover, longAgo, longAgo);
  await writeFile(join(dirname(gone), ".young.tmp"), "half");
  await writeFile(join(dirname(gone), "somebody's"), "");
  await utimes(join(dirname(gone), "somebody's"), longAgo, longAgo);
  await putContent(directory, contentOf("young"));
  const asked: string[] = [];
  const referredTo = async (hashes: readonly string[]) => {
    asked.push(...hashes);
    return new Set([referred]);
  };
  expect(await sweepContents(directory, { beforeMs, referredTo }, never)).toBe(2);
  expect((await filesIn(directory)).sort()).toEqual(
    [".young.tmp", "somebody's", referred, contentOf("young").sha256].sort(),
  );
  expect(asked).toHaveLength(4);
});

test("a content that is put again during the sweep stays, whenever that happens", async () => {
  const directory = temporaryFolder();
  const path = await putOld(directory, "again");
  const referredTo = async () => {
    await putContent(directory, contentOf("again"));
    return new Set<string>();
  };
  expect(await sweepContents(directory, { beforeMs, referredTo }, never)).toBe(0);
  expect(await readFile(path, "utf8")).toBe("again");
});

test("puts and sweeps of the same old content at once never end without it", async () => {
  const directory = temporaryFolder();
  for (let round = 0; round < 40; round++) {
    const path = await putOld(directory, "contended");
    const put = putContent(directory, contentOf("contended"));
    await Promise.all([put, sweepContents(directory, { beforeMs, referredTo: nothing }, never)]);
    expect(await readFile(path, "utf8")).toBe("contended");
  }
});

test("a file that a crash left aside gets its name back before it is judged", async () => {
  const directory = temporaryFolder();
  const { sha256 } = contentOf("aside");
  const path = await putOld(directory, "aside");
  const aside = join(dirname(path), `.${sha256}.aside`);
  await rename(path, aside);
  const referredTo = async (hashes: readonly string[]) => new Set(hashes);
  expect(await sweepContents(directory, { beforeMs, referredTo }, never)).toBe(0);
  expect(await readFile(path, "utf8")).toBe("aside");
  await rename(path, aside);
  expect(await sweepContents(directory, { beforeMs, referredTo: nothing }, never)).toBe(1);
  expect(await filesIn(directory)).toEqual([]);
});

test("a sweep without a directory finds nothing, and an aborted one stops", async () => {
  const directory = temporaryFolder();
  expect(await sweepContents(join(directory, "none"), { beforeMs, referredTo: nothing }, never)).toBe(0);
  await mkdir(join(directory, "zz", "00"), { recursive: true });
  const path = await putOld(directory, "stays");
  const aborted = AbortSignal.abort(new Error("enough"));
  const sweep = sweepContents(directory, { beforeMs, referredTo: nothing }, aborted);
  await expect(sweep).rejects.toThrow("enough");
  expect(await readFile(path, "utf8")).toBe("stays");
});
