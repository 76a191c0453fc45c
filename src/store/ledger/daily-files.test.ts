import { describe, expect, test } from "vitest";
import { ledgerOfEachTest } from "../../inbound/testing/ledger-fixture.ts";
import type { Fault } from "../../lib/errors.ts";
import { dayOf, listChannels } from "./daily-files.ts";
import { removeEntries } from "./entry-retention.ts";
import { requestRetry, acceptRetry } from "./files.ts";

const fixture = ledgerOfEachTest();
const receivedAt = 1_700_000_000_000;
const day = dayOf(receivedAt);
const faults: readonly Fault[] = [
  { code: "xsdMismatch", message: "one" },
  { code: "xsdMismatch", message: "two" },
  { code: "tooLong", message: "three" },
];

const counts = async () =>
  Object.fromEntries(
    (await fixture.store.read.selectFrom("daily_files").selectAll().execute()).map((row) => {
      expect(row).toMatchObject({ company_id: fixture.companyId, day, channel: "sftp" });
      return [row.state, row.files];
    }),
  );

const faulty = () =>
  fixture.store.read
    .selectFrom("file_faults")
    .select(["code", "file_id as id"])
    .orderBy("code")
    .orderBy("file_id")
    .execute();

async function refused(name: string): Promise<number> {
  const id = await fixture.wait(name);
  await fixture.decide(id, {
    state: "refused",
    location: `companies/ACME/error/${name}`,
    text: name,
    faults,
  });
  return id;
}

describe("a file", () => {
  test("counts when it is decided, with its faults by their codes", async () => {
    const applied = await fixture.wait("1_20261105_080000.xml");
    expect(await counts()).toEqual({});
    await fixture.decide(applied, { state: "applied", location: "companies/ACME/archive/1", text: "1" });
    const id = await refused("2_20261105_080000.xml");
    await refused("3_20261105_080000.xml");
    expect(await counts()).toEqual({ applied: 1, refused: 2 });
    expect((await faulty()).filter((row) => row.id === id)).toEqual([
      { code: "tooLong", id },
      { code: "xsdMismatch", id },
    ]);
  });

  test("that is to be tried again counts no more, and counts as what becomes of it", async () => {
    const id = await refused("2_20261105_080000.xml");
    const retry = () => fixture.store.write(fixture.companyId, (tx) => requestRetry(tx, { id, now: 1 }));
    expect(await retry()).toBe(true);
    expect(await counts()).toEqual({ refused: 0 });
    expect(await faulty()).toEqual([]);
    expect(await retry()).toBe(false);
    expect(await counts()).toEqual({ refused: 0 });
    await fixture.store.write(fixture.companyId, (tx) => acceptRetry(tx, { id }));
    await fixture.decide(id, { state: "applied", location: "companies/ACME/archive/2", text: "2" });
    expect(await counts()).toEqual({ refused: 0, applied: 1 });
  });

  test("whose entry is removed because of its age still counts, and its faults are forgotten", async () => {
    const [id, stays] = [await refused("2_20261105_080000.xml"), await refused("3_20261105_080000.xml")];
    const { companyId } = fixture;
    const { name, location } = { name: "2_20261105_080000.xml", location: "x" };
    const old = { ...{ id, name, location, state: "refused" as const, decidedAt: 1, receivedAt }, size: 1 };
    await fixture.store.write(companyId, (tx) =>
      removeEntries(tx, { companyId, files: [old as never], now: 2, days: 1 }),
    );
    expect(await counts()).toEqual({ refused: 2 });
    expect((await faulty()).map((row) => row.id)).toEqual([stays, stays]);
  });
});

test("the channels of some days are known by their counts", async () => {
  await refused("2_20261105_080000.xml");
  const { read } = fixture.store;
  const companyIds = [fixture.companyId];
  expect(await listChannels(read, { companyIds, since: receivedAt })).toEqual(["sftp"]);
  expect(await listChannels(read, { companyIds, since: receivedAt + 86_400_000 })).toEqual([]);
  expect(await listChannels(read, { companyIds: [companyIds[0] ?? 0 + 1, 99], since: 0 })).toEqual(["sftp"]);
  expect(await listChannels(read, { companyIds: [99], since: 0 })).toEqual([]);
});
