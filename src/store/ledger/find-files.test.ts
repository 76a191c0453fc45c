/** A search for a SHA-256 that ran out of time goes on where it ended, and misses nothing. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { given } from "../../lib/given.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import { findFilesByContent } from "./find-files.ts";

const sha256 = "0123456789".padEnd(64, "a");
/** Far apart, as in a ledger of which most entries were removed. */
const ids = [3, 99_999, 250_001, 250_002, 700_000];
let stateDir = "";
let store: Store;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-find-"));
  store = await openStore(stateDir);
  await store.write("site", async (tx) => {
    for (const code of ["A", "B"]) await insertCompany(tx, { code, createdAt: 1 });
    for (const id of ids) {
      const file = {
        id,
        company_id: 1 + (id % 2),
        name: `${id}.xml`,
        size: 1,
        channel: "sftp",
        received_at: id,
      };
      const rest = { state: "applied" as const, reasons: "[]", source: "s", location: `l${id}`, is_filed: 1 };
      const records = { records_created: 0, records_updated: 0, records_deleted: 0 };
      await tx
        .insertInto("files")
        .values({ ...file, ...rest, ...records, sha256: id === 250_002 ? "f".repeat(64) : sha256 })
        .execute();
    }
  });
});
afterAll(async () => {
  await store.close();
  await rm(stateDir, { recursive: true });
});

const find = (
  hasTime: boolean,
  more: { companyIds?: readonly number[]; fromId?: number; limit?: number } = {},
) =>
  findFilesByContent(store.read, {
    ...{ companyIds: [1, 2], sha256: sha256.slice(0, 9), limit: 20, hasTime: () => hasTime, ...more },
  });

test("with time enough all entries of the companies are found, the newest first", async () => {
  const found = await find(true);
  expect(found.entries.map(({ id }) => id)).toEqual([700_000, 250_001, 99_999, 3]);
  expect(found.goesOnAt).toBeUndefined();
  expect((await find(true, { companyIds: [2] })).entries.map(({ id }) => id)).toEqual([250_001, 99_999, 3]);
  expect((await find(true, { limit: 2 })).entries.map(({ id }) => id)).toEqual([700_000, 250_001]);
});

test("without time each search makes a step, and the next one goes on from there", async () => {
  const found: number[] = [];
  const places: number[] = [];
  let fromId: number | undefined;
  do {
    const { entries, goesOnAt } = await find(false, given({ fromId }));
    found.push(...entries.map(({ id }) => id));
    if (goesOnAt !== undefined) places.push(goesOnAt.receivedAt);
    fromId = goesOnAt?.id;
  } while (fromId !== undefined);
  expect(found).toEqual([700_000, 250_001, 99_999, 3]);
  expect(places).toEqual([250_002, 99_999]);
});
