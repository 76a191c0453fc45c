import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { isPartner } from "../../store/accounts/partners.ts";
import { importBusinessPartners } from "./business-partners.ts";
import { defaultImportRules, type ImportRules } from "./import-request.ts";
import { addCompany } from "../users/company-admin.ts";

const clock = { now: () => 1_000 };
let directory: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-partners-"));
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

function send(body: unknown, rules: Partial<ImportRules> = {}) {
  const all = { ...defaultImportRules, ...rules };
  return importBusinessPartners({ store, clock }, { companyId, companyCode: "ACME", body, rules: all });
}

function sendPartners(...businessPartners: unknown[]) {
  return send({ companyCode: "acme", businessPartners });
}

/** What is kept of the partner. */
async function partner(partnerCode: string): Promise<unknown> {
  const partners = store.read.selectFrom("partners").select("body").where("company_id", "=", companyId);
  const { body } = await partners.where("partner_code", "=", partnerCode).executeTakeFirstOrThrow();
  return JSON.parse(body);
}

describe("an import of business partners", () => {
  it("creates and updates, keeping fields that the specification does not name", async () => {
    await sendPartners({ partnerCode: "C1", partnerName: "One" });
    const outcome = await sendPartners(
      { partnerCode: "C1", partnerType: "Carrier", scac: "ABCD", contactEmail: null },
      { partnerCode: "C2" },
    );
    expect(outcome).toEqual({ kind: "imported", created: 1, updated: 1 });
    expect(await partner("C1")).toEqual({
      partnerCode: "C1",
      partnerType: "Carrier",
      scac: "ABCD",
    });
    const types = store.read.selectFrom("partners").select("partner_type").where("partner_code", "=", "C1");
    expect(await types.execute()).toEqual([{ partner_type: "Carrier" }]);
    expect(await isPartner(store.read, companyId, "C1")).toBe(true);
    expect(await isPartner(store.read, companyId, "c1")).toBe(false);
  });

  it("belongs to its company alone", async () => {
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await sendPartners({ partnerCode: "C1" });
    expect(await isPartner(store.read, other, "C1")).toBe(false);
  });

  it("with the same code twice keeps the later one", async () => {
    const outcome = await sendPartners(
      { partnerCode: "C1", partnerName: "a" },
      { partnerCode: "C1", partnerName: "b" },
    );
    expect(outcome).toEqual({ kind: "imported", created: 1, updated: 1 });
    expect(await partner("C1")).toMatchObject({ partnerName: "b" });
  });

  it("lets others have their turn while it is written", async () => {
    let isWriting = false;
    let turns = 0;
    let isDone = false;
    const countTurns = async () => {
      for (; !isDone; turns += isWriting ? 1 : 0) await setImmediate();
    };
    const write: Store["write"] = (whose, work) =>
      store.write(whose, async (tx) => {
        isWriting = true;
        const result = await work(tx);
        isWriting = false;
        return result;
      });
    const counting = countTurns();
    const businessPartners = Array.from({ length: 640 }, (_, index) => ({ partnerCode: `C${index}` }));
    const body = { companyCode: "ACME", businessPartners };
    await importBusinessPartners({ store: { write }, clock }, { companyId, companyCode: "ACME", body });
    isDone = true;
    await counting;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it("is refused as a whole with each fault and its path", async () => {
    const sending = sendPartners(
      { partnerCode: "GOOD" },
      { partnerName: "without a code" },
      { partnerCode: "12345678901" },
      { partnerCode: "C4", partnerName: 7 },
      { partnerCode: "C5", contactEmail: "x".repeat(2_001) },
      "C6",
    );
    await expect(sending).rejects.toMatchObject({
      faults: [
        { code: "missing", path: "businessPartners[1].partnerCode" },
        { code: "tooLong", path: "businessPartners[2].partnerCode" },
        { code: "wrongType", path: "businessPartners[3].partnerName" },
        { code: "tooLong", path: "businessPartners[4].contactEmail" },
        { code: "wrongType", path: "businessPartners[5]" },
      ],
    });
    expect(await isPartner(store.read, companyId, "GOOD")).toBe(false);
  });

  it("keeps one fault more than an answer carries", async () => {
    const sending = sendPartners(...new Array<unknown>(80).fill({}));
    await expect(sending).rejects.toHaveProperty("faults.length", 51);
  });

  it.each([
    ["a body that is a list", [], "wrongType"],
    ["a body that is null", null, "wrongType"],
    ["no company code", { businessPartners: [{ partnerCode: "C" }] }, "missing"],
    [
      "a company code that is a number",
      { companyCode: 1, businessPartners: [{ partnerCode: "C" }] },
      "wrongType",
    ],
    [
      "a company code that is too long",
      { companyCode: "A".repeat(21), businessPartners: [{ partnerCode: "C" }] },
      "tooLong",
    ],
    [
      "the code of another company",
      { companyCode: "OTHER", businessPartners: [{ partnerCode: "C" }] },
      "companyDiffers",
    ],
    ["no list", { companyCode: "ACME" }, "emptyList"],
    ["an empty list", { companyCode: "ACME", businessPartners: [] }, "emptyList"],
    ["something else than a list", { companyCode: "ACME", businessPartners: {} }, "wrongType"],
    ["too many entries", { companyCode: "ACME", businessPartners: [{}, {}, {}] }, "tooLarge"],
  ])("with %s is refused", async (_, body, code) => {
    await expect(send(body, { maxEntries: 2 })).rejects.toMatchObject({ faults: [{ code }] });
  });
});
