import { readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ExchangeFixture, namesOf, openFixture } from "../../../test/support/exchange-fixture.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";

let fixture: ExchangeFixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

test.each(["done", "g.xml", "done/a/g.xml", "2026-01-02/g.xml"])(
  "a file of outbound/ that is moved to outbound/%s stays, and the folder for it is told",
  async (to) => {
    const path = join(fixture.home, "outbound/f.xml");
    await writeFile(path, "content");
    const moving = fixture.session().rename("/outbound/f.xml", `/outbound/${to}`, { mayReplace: false });
    await expect(moving).rejects.toMatchObject({
      kind: "permissionDenied",
      message: "Files in outbound/ can only be moved into outbound/done/",
    });
    expect(await readFile(path, "utf8")).toBe("content");
  },
);

test("a file that goes away while its folder is listed is not in the list", async () => {
  await fixture.close();
  fixture = await openFixture({
    disk: {
      ...systemDisk,
      async lstat(path) {
        if (path.endsWith("/gone.xml")) await unlink(join(fixture.home, "outbound/gone.xml"));
        return await systemDisk.lstat(path);
      },
    },
  });
  for (const name of ["gone.xml", "stays.xml"]) await writeFile(join(fixture.home, "outbound", name), "x");
  expect(await namesOf(fixture.session(), "/outbound")).toEqual(["stays.xml"]);
});

test("a removal is recorded where the ledger says that the file lies, and nowhere else", async () => {
  await fixture.close();
  const recorded: string[] = [];
  fixture = await openFixture({ recordRemoval: async ({ path }) => void recorded.push(path) });
  for (const folder of ["outbound", "receipts", "error"]) {
    await writeFile(join(fixture.home, folder, "f.xml"), "x");
    await fixture.session().remove(`/${folder}/f.xml`);
  }
  expect(recorded).toEqual([join(fixture.home, "error/f.xml")]);
});
