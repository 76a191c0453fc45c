import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ExchangeFixture, openFixture } from "../../../test/support/exchange-fixture.ts";

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
