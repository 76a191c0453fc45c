import { rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type ActSite, openActSite } from "../../../../test/support/console-acts.ts";
import type { ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { saveEnabled, saveMembership } from "../../../store/accounts/users.ts";
import { findFile } from "../../../store/ledger/files.ts";

const ledger = ledgerOfEachTest();
const now = 1_700_000_100_000;
let site: ActSite;
let anna: ConsoleUser;

beforeEach(async () => {
  const { store, stateDir, companyId } = ledger;
  site = await openActSite({ store, stateDir, now });
  anna = await site.user("anna", ["MemberAdmin"], companyId);
});

async function refusedFile(name: string, decidedAt = now - 60_000): Promise<string> {
  const id = await ledger.wait(name);
  const faults = [{ code: "superseded", message: "a newer one was applied" }] as const;
  const location = `companies/ACME/error/2026-11-05/${name}`;
  await ledger.decide(id, { state: "superseded", location, text: name, faults, decidedAt });
  return site.ledgerNumbers.seal(id);
}

function retry(
  of: readonly string[],
  { user = anna, reason = "the carrier is right now", seenAt = now } = {},
) {
  return site.act("file.retry", { user, companyId: ledger.companyId, reason }, { of, seenAt });
}

async function stateOf(reference: string): Promise<string | undefined> {
  return (await findFile(ledger.store.read, site.ledgerNumbers.open(reference) ?? 0))?.state;
}

describe("a file that is retried in the console", () => {
  test("waits for the pipeline, and the audit has who, why, before and after", async () => {
    const file = await refusedFile("a.xml");
    expect(await retry([file])).toEqual({ done: 1, notDone: [] });
    expect(await stateOf(file)).toBe("retry");
    const [entry, ...more] = await site.audit();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      ...{ at: now, userId: anna.userId, userName: "anna", companyId: ledger.companyId, kind: "file.retry" },
      ...{ subject: `file a.xml ${file}`, reason: "the carrier is right now", address: "192.0.2.7" },
      before: JSON.stringify({
        ...{ state: "superseded", decidedAt: new Date(now - 60_000).toISOString(), reasons: [954] },
      }),
      after: JSON.stringify({ state: "retry" }),
    });
  });

  test("is retried once when the form comes twice, and both are told the same", async () => {
    const file = await refusedFile("a.xml");
    const both = await Promise.all([retry([file]), retry([file])]);
    expect(both).toEqual([
      { done: 1, notDone: [] },
      { done: 1, notDone: [] },
    ]);
    expect(await retry([file])).toEqual({ done: 1, notDone: [] });
    expect(await site.audit()).toHaveLength(1);
  });

  test("tells the second of two people who was quicker, and when", async () => {
    const file = await refusedFile("a.xml");
    const berta = await site.user("berta", ["MemberAdmin"], ledger.companyId);
    await retry([file]);
    site.now += 5_000;
    const { done, notDone } = await retry([file], { user: berta });
    expect(done).toBe(0);
    expect(notDone).toEqual([
      { why: `it was retried by anna at ${new Date(now).toISOString()}`, of: [file] },
    ]);
    expect(await site.audit()).toHaveLength(1);
  });

  test("tells who asks again for another reason that it is done, and when", async () => {
    const file = await refusedFile("a.xml");
    await retry([file]);
    const { notDone } = await retry([file], { reason: "to be sure" });
    expect(notDone[0]?.why).toBe(`it was retried by anna at ${new Date(now).toISOString()}`);
  });

  test("is shown beforehand to who may act for its company, with why it cannot be retried", async () => {
    const file = await refusedFile("a.xml");
    await rm(join(ledger.stateDir, "companies/ACME/error/2026-11-05/a.xml"));
    const [rehearsal, ...more] = await site.look("file.retry", anna, { of: [file, file, "x"] });
    expect(more).toEqual([]);
    const { companyId: id } = ledger;
    expect(rehearsal).toMatchObject({ reference: file, name: "a.xml", state: "superseded", company: { id } });
    expect(rehearsal?.why).toContain("have the file sent again");
    expect(rehearsal?.outcome).toBeUndefined();
    const looking = await site.user("dora", ["DI_Inquiry"], ledger.companyId);
    expect(await site.look("file.retry", looking, { of: [file] })).toEqual([]);
  });

  test("is left alone when it was decided again after the page was made", async () => {
    const file = await refusedFile("a.xml", now + 1);
    expect((await retry([file])).notDone[0]?.why).toMatch(/^it has changed at 2023-.*look at it again$/);
    expect(await stateOf(file)).toBe("superseded");
  });

  test("is not retried when its bytes are gone, and the audit has no row", async () => {
    const file = await refusedFile("a.xml");
    await rm(join(ledger.stateDir, "companies/ACME/error/2026-11-05/a.xml"));
    expect((await retry([file])).notDone[0]?.why).toContain("have the file sent again");
    expect(await site.audit()).toEqual([]);
  });
});

describe("who may not act", () => {
  test("is refused in the unit of work, though the session says otherwise", async () => {
    const file = await refusedFile("a.xml");
    const { companyId, store } = ledger;
    const { userId, userName } = anna;
    const roles = ["DI_Inquiry"] as const;
    await store.write("site", (tx) => saveMembership(tx, { companyId, userId, userName, roles }));
    await expect(retry([file])).rejects.toMatchObject({ code: "roleMissing" });
    expect(await stateOf(file)).toBe("superseded");
    expect(await site.audit()).toEqual([]);
  });

  test("is refused when it was disabled meanwhile", async () => {
    const file = await refusedFile("a.xml");
    const { userId } = anna;
    await ledger.store.write("site", (tx) => saveEnabled(tx, { userId, isEnabled: false, now }));
    await expect(retry([file])).rejects.toMatchObject({ code: "roleMissing" });
    expect(await stateOf(file)).toBe("superseded");
  });

  test("gets the same answer for a file of another company as for one that does not exist", async () => {
    const file = await refusedFile("a.xml");
    const other = await ledger.company("OTHER");
    const carl = await site.user("carl", ["MemberAdmin"], other);
    const nothing = site.ledgerNumbers.seal(4711);
    const by = { user: carl, companyId: other, reason: "mine" };
    const { done, notDone } = await site.act("file.retry", by, { of: [file, nothing, "x"], seenAt: now });
    expect(done).toBe(0);
    expect(notDone).toHaveLength(1);
    expect(notDone[0]?.of).toEqual([file, nothing, "x"]);
    expect(await stateOf(file)).toBe("superseded");
    expect(await site.look("file.retry", carl, { of: [file] })).toEqual([]);
  });
});

test("of many files those are retried that still can be, and the reasons of the others are gathered", async () => {
  const files = [await refusedFile("a.xml"), await refusedFile("b.xml"), await refusedFile("c.xml")];
  await retry(files.slice(0, 1));
  await rm(join(ledger.stateDir, "companies/ACME/error/2026-11-05/b.xml"));
  const { done, notDone } = await retry(files, { reason: "all of them" });
  expect(done).toBe(1);
  expect(notDone.map(({ of }) => of)).toEqual([files.slice(0, 1), files.slice(1, 2)]);
  expect(notDone[0]?.why).toContain("was retried by anna");
});

test("more than can be done at once are refused before anything is done", async () => {
  const file = await refusedFile("a.xml");
  const many = [file, ...Array.from({ length: 500 }, (_, index) => site.ledgerNumbers.seal(index + 100))];
  await expect(retry(many)).rejects.toMatchObject({ code: "tooLarge" });
  expect(await stateOf(file)).toBe("superseded");
});
