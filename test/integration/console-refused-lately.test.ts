/** What page 1 lists of refused files: single ones, and many of one kind as one line, from their rows in a real store. */
import { expect, test } from "vitest";
import { queryRecentRefusals, queryRefusalGroups } from "../../src/app/console/queries/recent-refusals.ts";
import type { Config } from "../../src/config/schema.ts";
import { dayMs } from "../../src/lib/durations.ts";
import type { ErrorCode } from "../../src/lib/errors.ts";
import { createSealedNumbers, newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const now = Date.UTC(2026, 10, 5, 12);
const today = now - (now % dayMs);
const companies = [
  { id: 1, code: "ACME" },
  { id: 2, code: "OTHER" },
];

interface Refused {
  readonly companyId?: number;
  readonly codes?: readonly ErrorCode[];
  readonly at: number;
}

async function refuse(store: Store, { companyId = 1, codes = ["xsdMismatch"], at }: Refused): Promise<void> {
  await store.write("site", async (tx) => {
    const counts = { records_created: 0, records_updated: 0, records_deleted: 0, is_filed: 1 };
    const reasons = JSON.stringify(codes.map((code) => ({ code, message: `${code} of ${at - today}` })));
    const { id } = await tx
      .insertInto("files")
      .values({
        ...{
          ...counts,
          company_id: companyId,
          name: `f${at}.xml`,
          size: 1,
          channel: "sftp",
          received_at: at,
        },
        ...{ state: "refused", reasons, decided_at: at + 5, source: "s", location: `l${companyId} ${at}` },
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    for (const code of codes)
      await tx
        .insertInto("file_faults")
        .values({ company_id: companyId, code, received_at: at, file_id: id })
        .execute();
  });
}

async function openSite() {
  const stateDir = temporaryFolder();
  const store = await openFreshStore(stateDir);
  for (const { code } of companies)
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  const ledgerNumbers = createSealedNumbers(newSealingKey(), "ledger");
  const config = { companies: {} } as Config;
  const context = { read: store.read, stateDir, ledgerNumbers, now, config, timeLeftMs: () => 2_000 };
  const lately = (limit: number, seen = companies.slice(0, 1)) =>
    queryRecentRefusals(context, { companies: seen, isOperator: false }, { limit });
  return { store, context, lately };
}

test("many of one reason and day are one line with their number, and hide nothing else", async () => {
  const { store, lately, context } = await openSite();
  for (let nth = 0; nth < 40; nth += 1) await refuse(store, { at: today + nth });
  for (let nth = 0; nth < 5; nth += 1) await refuse(store, { at: today - dayMs + nth });
  await refuse(store, { at: today - 2 * dayMs });
  await refuse(store, { at: today + 1, codes: ["badFileName"] });
  await refuse(store, { at: now - 8 * dayMs, codes: ["tooLarge"] });
  await refuse(store, { at: today + 2, companyId: 2 });
  const { refusals, groups } = await lately(20);
  expect(groups).toEqual([
    {
      ...{ companyId: 1, companyCode: "ACME", code: "xsdMismatch", reasonCode: 951, day: "2026-11-05" },
      ...{ count: 40, isMore: false, firstAt: today, lastAt: today + 39, message: "xsdMismatch of 39" },
    },
    expect.objectContaining({
      day: "2026-11-04",
      count: 5,
      firstAt: today - dayMs,
      lastAt: today - dayMs + 4,
    }),
  ]);
  expect(refusals.map(({ code, at }) => [code, at])).toEqual([
    ["badFileName", today + 6],
    ["xsdMismatch", today - 2 * dayMs + 5],
  ]);
  expect((await lately(2)).groups).toHaveLength(1);
  expect((await lately(20, companies)).refusals).toHaveLength(3);
  const keys = ["2026-11-05", "2026-11-03"].map(
    (day) => ({ companyId: 1, code: "xsdMismatch", day }) as const,
  );
  const asked = (seen: readonly (typeof companies)[number][]) =>
    queryRefusalGroups(context, { companies: seen, isOperator: false }, { keys });
  expect(await asked(companies)).toEqual(groups.slice(0, 1));
  expect(await asked(companies.slice(1))).toEqual([]);
});

test("a file with several reasons is told once, by its first one", async () => {
  const { store, lately } = await openSite();
  for (let nth = 0; nth < 3; nth += 1)
    await refuse(store, { at: today + nth, codes: ["tooLong", "missing"] });
  expect((await lately(20)).refusals.map(({ code }) => code)).toEqual(["tooLong", "tooLong", "tooLong"]);
  for (let nth = 3; nth < 6; nth += 1)
    await refuse(store, { at: today + nth, codes: ["tooLong", "missing"] });
  const { refusals, groups } = await lately(20);
  expect(refusals).toEqual([]);
  expect(groups.map(({ code, count }) => [code, count])).toEqual([["tooLong", 6]]);
});
