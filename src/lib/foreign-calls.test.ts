import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { BoundedCalls, foreignEntries, foreignPlaces } from "./foreign-calls.ts";

test.each([
  [undefined, 2],
  ["16", 8],
  ["5", 2],
  ["1", 1],
  ["none", 2],
])("of a pool of %s threads such calls get %i", (size, places) => {
  expect(foreignPlaces(size)).toBe(places);
});

test("calls that are not answered keep their places; the others follow each other in the rest", async () => {
  const calls = new BoundedCalls(2);
  const begun: string[] = [];
  void calls.run(() => {
    begun.push("dead");
    return new Promise(() => undefined);
  });
  const answers = new Map<string, (error?: Error) => void>();
  const ask = (name: string) =>
    calls.run(async () => {
      begun.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      answers.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      return await promise;
    });
  const [first, second, third] = [ask("first"), ask("second"), ask("third")];
  await setImmediate();
  expect(begun).toEqual(["dead", "first"]);
  answers.get("first")?.();
  expect(await first).toBe("first");
  await setImmediate();
  expect(begun).toEqual(["dead", "first", "second"]);
  answers.get("second")?.(new Error("EIO"));
  await expect(second).rejects.toThrow("EIO");
  await setImmediate();
  answers.get("third")?.();
  expect(await third).toBe("third");
});

test("all entries of a folder are given, and a fault is the system's", async () => {
  const folder = temporaryFolder();
  const names = Array.from({ length: 70 }, (_, nth) => `${nth}.xml`);
  for (const name of names) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "inner"));
  const found: string[] = [];
  for await (const { name } of foreignEntries(folder)) found.push(name);
  expect(found.sort()).toEqual([...names, "inner"].sort());
  const read = async () => {
    for await (const entry of foreignEntries(join(folder, "none"))) throw new Error(entry.name);
  };
  await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
});
