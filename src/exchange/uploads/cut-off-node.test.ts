import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshUpload, openFixture, resumedUpload } from "../../../test/support/exchange-fixture.ts";

test("an upload on a node that is cut off gets no final name, and is resumed when it is not any more", async () => {
  let isCutOff = false;
  const fixture = await openFixture({ isCutOff: () => isCutOff });
  onTestFinished(() => fixture.close());
  const inbound = join(fixture.home, "inbound");
  const session = fixture.session();
  const handle = await session.openWrite("/inbound/a.xml", freshUpload);
  await handle.write(0, Buffer.from("<St"));
  isCutOff = true;
  await expect(handle.close()).rejects.toThrow(/cannot reach its database; send the file again/);
  expect(await readdir(inbound)).not.toContain("a.xml");
  await expect(session.openWrite("/inbound/b.xml", freshUpload)).rejects.toThrow(/cannot reach its database/);
  isCutOff = false;
  const resumed = await session.openWrite("/inbound/a.xml", resumedUpload);
  await resumed.write(3, Buffer.from("op/>"));
  await resumed.close();
  expect(await readFile(join(inbound, "a.xml"), "utf8")).toBe("<Stop/>");
  expect(fixture.arrivals).toHaveLength(1);
});
