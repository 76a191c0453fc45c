import { createHash } from "node:crypto";
import { readdir, readFile, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { saveDocuments } from "../../store/stops/documents.ts";
import { addCompany } from "../users/company-admin.ts";
import { findLegacyDocument } from "../legacy/legacy-document.ts";
import { sweepDocuments } from "./sweep-documents.ts";
import { takeOutDocuments } from "./take-out-documents.ts";

const clock = { now: () => Date.now() };
const never = new AbortController().signal;
const longAgo = new Date(1_000_000);
let directory: string;
let documentsDir: string;
let store: Store;
let companyId: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "dropgate-documents-"));
  documentsDir = join(directory, "documents");
  store = await openFreshStore(directory);
  companyId = (await addCompany({ store, clock }, "ACME")).company.id;
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function documentOf(text: string, documentName = "bol.pdf"): DocumentObject {
  return { documentName, documentData: Buffer.from(text).toString("base64") };
}

/** Takes the content of documents out and enters them, as an import does. */
async function bring(...documents: DocumentObject[]) {
  const taken = await takeOutDocuments({ documentsDir }, { stopNbr: "A1", documents }, "stops[0]");
  await store.write("site", (tx) => saveDocuments(tx, { companyId, documents: taken.kept, now: 1 }));
  return { ...taken, guids: taken.kept.map(({ guid }) => guid) };
}

const find = (guid: string, company = companyId) =>
  findLegacyDocument({ store, documentsDir }, { companyId: company, guid });

describe("documents that an import brings", () => {
  it("are stored, and found by their reference in any case", async () => {
    const { entity, kept, guids } = await bring(documentOf("one"), documentOf("two", "photo.jpg"));
    const [first = "", second = ""] = guids;
    expect(entity.documents).toEqual([
      { documentName: "bol.pdf", reference: first },
      { documentName: "photo.jpg", reference: second },
    ]);
    const document = await find(second.toUpperCase());
    expect(document).toEqual({ ...kept[1], createdAt: 1, path: contentPath(documentsDir, sha256("two")) });
    expect(await readFile(document.path, "utf8")).toBe("two");
  });

  it("are there before anything of them is in the store", async () => {
    const { kept } = await takeOutDocuments({ documentsDir }, { documents: [documentOf("one")] }, "stop");
    expect(await readFile(contentPath(documentsDir, kept[0]?.sha256 ?? ""), "utf8")).toBe("one");
    await expect(find(kept[0]?.guid ?? "")).rejects.toMatchObject({ code: "documentNotFound" });
  });

  it("keep their reference when they come again, also in another stop", async () => {
    const [first, second] = [await bring(documentOf("one")), await bring(documentOf("one"))];
    expect(second.guids).toEqual(first.guids);
    expect((await find(first.guids[0] ?? "")).size).toBe(3);
  });

  it("are not stored at all when one is no base64", async () => {
    const bad = { documentName: "b", documentData: "no base64!" };
    const { kept, faults } = await bring(documentOf("one"), bad);
    expect(kept).toEqual([]);
    expect(faults).toMatchObject([{ code: "wrongType", path: "stops[0].documents[1].documentData" }]);
    await expect(readdir(documentsDir)).rejects.toThrow("ENOENT");
  });
});

describe("a document", () => {
  it("is nobody else's", async () => {
    const { guids } = await bring(documentOf("one"));
    const other = (await addCompany({ store, clock }, "OTHER")).company.id;
    await expect(find(guids[0] ?? "", other)).rejects.toMatchObject({ code: "documentNotFound" });
  });

  it.each(["", "x", "../../dropgate.db", "00000000-0000-4000-8000-000000000000", "a".repeat(64)])(
    "is not found by %j",
    async (guid) => {
      await expect(find(guid)).rejects.toMatchObject({ code: "documentNotFound" });
    },
  );

  it("whose file is gone or cut is a failure of ours", async () => {
    const { guids } = await bring(documentOf("one"));
    const { path } = await find(guids[0] ?? "");
    await rm(path);
    await expect(find(guids[0] ?? "")).rejects.toThrow("ENOENT");
  });
});

describe("the sweep", () => {
  it("removes contents without a document after a day, and no others", async () => {
    await bring(documentOf("entered"));
    for (const text of ["refused", "young"])
      await takeOutDocuments({ documentsDir }, { documents: [documentOf(text)] }, "stop");
    for (const text of ["entered", "refused"])
      await utimes(contentPath(documentsDir, sha256(text)), longAgo, longAgo);
    expect(await sweepDocuments({ store, documentsDir, now: clock.now() }, never)).toBe(1);
    const files = await readdir(documentsDir, { recursive: true });
    const left = files.map((name) => name.slice(-64)).filter((name) => name.length === 64);
    expect(left.sort()).toEqual([sha256("entered"), sha256("young")].sort());
  });
});
