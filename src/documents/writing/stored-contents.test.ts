import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { documentGuid } from "../../domain/documents/document-content.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { createDocumentPool, type DocumentPool, type DocumentPoolOptions } from "../pool/document-pool.ts";

async function started(options: Partial<DocumentPoolOptions> = {}): Promise<DocumentPool> {
  const pool = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1, ...options });
  onTestFinished(() => pool.stop(AbortSignal.abort()));
  await pool.start(new AbortController().signal);
  return pool;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function stop(stopNbr: string, ...contents: readonly string[]): Buffer {
  const documents = contents.map(
    (text) =>
      `<Document><DocumentName>bol.pdf</DocumentName><DocumentData>${Buffer.from(text).toString("base64")}</DocumentData></Document>`,
  );
  const list = documents.length === 0 ? "" : `<Documents>${documents.join("")}</Documents>`;
  return Buffer.from(`<Stop><Function>01</Function><StopNbr>${stopNbr}</StopNbr>${list}</Stop>`);
}

async function changeOf(pool: DocumentPool, bytes: Buffer) {
  const prepared = await pool.prepareBytes(bytes);
  const [change] = prepared.kind === "read" ? prepared.instructions : [];
  if (change === undefined) throw new Error(`not read: ${JSON.stringify(prepared)}`);
  return change;
}

const kept = {
  guid: documentGuid(sha256("bill"), "bol.pdf"),
  sha256: sha256("bill"),
  size: 4,
  name: "bol.pdf",
};

test("what documents contain is stored before the stop is handed on, which keeps the reference alone", async () => {
  const documentsDir = join(temporaryFolder(), "documents");
  const pool = await started({ documentsDir });
  const change = await changeOf(pool, stop("A1", "bill"));
  expect(readFileSync(contentPath(documentsDir, kept.sha256), "utf8")).toBe("bill");
  expect(change.documents).toEqual([kept]);
  expect(JSON.parse(change.stopJson)).toEqual({
    stopNbr: "A1",
    documents: [{ documentName: "bol.pdf", reference: kept.guid }],
  });
});

test("without a document store the outcome is the same and nothing is written", async () => {
  const pool = await started();
  const change = await changeOf(pool, stop("A1", "bill"));
  expect(change.documents).toEqual([kept]);
  expect(change.stopJson).not.toContain("documentData");
});

test("a stop without documents has none, and touches no disk", async () => {
  const documentsDir = join(temporaryFolder(), "documents");
  const pool = await started({ documentsDir });
  expect(await changeOf(pool, stop("A1"))).not.toHaveProperty("documents");
  expect(existsSync(documentsDir)).toBe(false);
});

test("a refused document stores nothing", async () => {
  const documentsDir = join(temporaryFolder(), "documents");
  const pool = await started({ documentsDir });
  const text = String(stop("A1", "bill")).replace("</Stop>", "<Nope/></Stop>");
  expect((await pool.prepareBytes(Buffer.from(text))).kind).toBe("refused");
  expect(existsSync(documentsDir)).toBe(false);
});

test("a document whose contents cannot be stored waits as one that cannot be read, and the thread goes on", async () => {
  const folder = temporaryFolder();
  const documentsDir = join(folder, "documents");
  writeFileSync(documentsDir, "a file is in the way");
  const pool = await started({ documentsDir });
  const prepared = await pool.prepareBytes(stop("A1", "bill"));
  expect(prepared).toMatchObject({ kind: "unreadable", message: expect.stringContaining("stored") });
  expect(prepared).not.toMatchObject({ systemCode: "ENOENT" });
  expect((await pool.prepareBytes(stop("A2"))).kind).toBe("read");
});

test("many documents at once, with and without contents, are each answered with their own result", async () => {
  const documentsDir = join(temporaryFolder(), "documents");
  const pool = await started({ documentsDir, threads: 2 });
  const numbers = Array.from({ length: 120 }, (_, index) => index);
  const changes = await Promise.all(
    numbers.map((number) =>
      changeOf(pool, number % 3 === 0 ? stop(`N${number}`, "shared", `own ${number}`) : stop(`N${number}`)),
    ),
  );
  expect(changes.map(({ stopNbr }) => stopNbr)).toEqual(numbers.map((number) => `N${number}`));
  const hashes = changes.flatMap(({ documents = [] }) => documents.map((document) => document.sha256));
  expect(new Set(hashes).size).toBe(41);
  const files = readdirSync(documentsDir, { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => name.length > 60)).toHaveLength(41);
});
