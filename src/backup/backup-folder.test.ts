import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import {
  backupName,
  findBackup,
  formatList,
  listBackups,
  listName,
  type Manifest,
  newManifest,
  readList,
  readManifest,
  removeParts,
} from "./backup-folder.ts";

const instance = "1a2b3c4d-0000-4000-8000-000000000000";
const at = Date.UTC(2026, 10, 5, 2, 0, 0, 7);

function manifestOf(list: string, files = 1): Manifest {
  return newManifest({
    ...{ name: "one", instance, schema: 7, version: "0.2.0", begunAt: at, endedAt: at, lastReceivedAt: null },
    ...{
      base: null,
      files,
      bytes: 1,
      shared: 0,
      reread: 0,
      rereadPart: null,
      ledgerEntries: 0,
      discrepancies: [],
      list,
    },
  });
}

/** A backup with that text for its list. */
function folderWith(text: string): { folder: string; manifest: Manifest } {
  const folder = temporaryFolder();
  writeFileSync(join(folder, listName), text);
  return { folder, manifest: manifestOf(hash("sha256", text, "hex"), text.split("\n").length - 1) };
}

describe("the folders of backups", () => {
  test("are found by their names, oldest first, without those that are not complete or of others", async () => {
    const destination = temporaryFolder();
    const names = [at + 5_000, at].map((moment) => backupName(moment, instance));
    expect(names[1]).toBe("20261105T020000.007Z-1a2b3c4d");
    const other = backupName(at, "99999999-0000");
    for (const name of [...names, other, `${names[0]}.part`, "20261105", "notes"])
      mkdirSync(join(destination, name));
    const found = await listBackups(destination, instance);
    expect(found.map(({ name, begunAt }) => [name, begunAt])).toEqual([
      [names[1], at],
      [names[0], at + 5_000],
    ]);
    expect((await listBackups(destination)).map(({ name }) => name)).toContain(other);
  });

  test("lose what a crash has left of their own instance, and nothing else", async () => {
    const destination = temporaryFolder();
    const own = `${backupName(at, instance)}.part`;
    const other = `${backupName(at, "99999999-0000")}.part`;
    for (const name of [own, other, "mine.part"]) mkdirSync(join(destination, name));
    await removeParts(destination, instance);
    const left = [own, other, "mine.part"].map((name) => findBackup(join(destination, name)));
    await expect(left[0]).rejects.toThrow("is not complete");
    mkdirSync(join(destination, own));
    expect(() => mkdirSync(join(destination, other))).toThrow("EEXIST");
    expect(() => mkdirSync(join(destination, "mine.part"))).toThrow("EEXIST");
    for (const one of left.slice(1)) await expect(one).rejects.toThrow("is not complete");
  });

  test("that have none are told apart from a backup", async () => {
    await expect(findBackup(temporaryFolder())).rejects.toThrow("there is no backup in");
  });
});

describe("the backup of a folder", () => {
  const other = "99999999-0000-4000-8000-000000000000";
  const clock = { now: () => at + 10_000 };

  /** A folder of backups with those names; `made` is what their manifests say. */
  function folderOf(names: readonly string[], made?: string): string {
    const destination = temporaryFolder();
    for (const name of names) {
      mkdirSync(join(destination, name));
      writeFileSync(
        join(destination, name, "manifest.json"),
        JSON.stringify({ ...manifestOf(""), name: made ?? name }),
      );
    }
    return destination;
  }

  test("is the newest of one instance; of several none is chosen, and the newest of each are named", async () => {
    const names = [backupName(at, instance), backupName(at + 1, instance), backupName(at + 2, other)];
    const destination = folderOf(names);
    await expect(findBackup(destination, { clock })).rejects.toThrow(
      `has backups of 2 instances; name the one that is meant. The newest of each: ${names[1]}, ${names[2]}`,
    );
    expect(await findBackup(destination, { clock, instance })).toBe(join(destination, names[1] ?? ""));
    expect(await findBackup(join(destination, names[0] ?? ""), { clock })).toBe(
      join(destination, names[0] ?? ""),
    );
    const third = { clock, instance: "77777777-0000" };
    await expect(findBackup(destination, third)).rejects.toThrow(
      "no backup of this state (instance 77777777)",
    );
  });

  test("is not one that is dated in the future, or that has another name than it was made with", async () => {
    const ahead = folderOf([backupName(at, instance), backupName(at + 20_000, instance)]);
    await expect(findBackup(ahead, { clock })).rejects.toThrow("is dated in the future");
    const renamed = folderOf([backupName(at, instance)], backupName(at - 1, instance));
    await expect(findBackup(renamed, { clock })).rejects.toThrow("was made with the name");
  });
});

describe("the list of files", () => {
  test("has every name, also one with a line break, a line separator or a backslash", async () => {
    const files = new Map([
      ["state/a b.xml", "a".repeat(64)],
      ["state/line\nbreak.xml", "b".repeat(64)],
      ["state/back\\slash\\n.xml", "c".repeat(64)],
      ["state/line\u2028paragraph\u2029.xml", "d".repeat(64)],
    ]);
    const { folder, manifest } = folderWith(formatList(files));
    expect(await readList(folder, manifest)).toEqual(files);
  });

  test("is refused when a line says no file, or the manifest knows another number of files", async () => {
    const text = formatList([["state/a.xml", "a".repeat(64)]]);
    const cut = folderWith(`${text}b\n`);
    await expect(readList(cut.folder, cut.manifest)).rejects.toThrow("has a line of no file (b)");
    const { folder, manifest } = folderWith(text);
    await expect(readList(folder, { ...manifest, files: 2 })).rejects.toThrow("names 1 files");
  });

  test("is refused when it is not that of the manifest, or leads out of the backup", async () => {
    const { folder, manifest } = folderWith(formatList([["state/a.xml", "a".repeat(64)]]));
    await expect(readList(folder, { ...manifest, list: "0" })).rejects.toThrow(
      "is not the list of its manifest",
    );
    for (const path of ["state/../../etc/passwd", "/etc/passwd", "state//a", "./a"]) {
      const outside = folderWith(formatList([[path, "a".repeat(64)]]));
      await expect(readList(outside.folder, outside.manifest)).rejects.toThrow("outside of the backup");
    }
  });
});

test("a manifest of another form is refused, and a damaged one", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifestOf(""), format: 2 }));
  await expect(readManifest(folder)).rejects.toThrow("has the form 2, this dropgate knows 1");
  writeFileSync(join(folder, "manifest.json"), "{");
  await expect(readManifest(folder)).rejects.toThrow("is damaged");
});
