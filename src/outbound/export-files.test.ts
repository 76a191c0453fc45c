import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ParseOption, XmlDocument, XsdValidator } from "libxml2-wasm";
import { describe, expect, onTestFinished, test } from "vitest";
import { createExportRendering, ExportFiles, type ExportRendering } from "./export-files.ts";
import { type ExportPlan, makeExport } from "./export-runs.ts";
import type { Delivery } from "./target.ts";
import { DeliverySite } from "../../test/support/delivery-site.ts";
import { projectFolder } from "../../test/support/markdown.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";

const rendering = createExportRendering(async () => undefined);

interface Exports {
  readonly site: DeliverySite;
  readonly directory: string;
  readonly files: ExportFiles;
}

async function open(ownRendering: ExportRendering = rendering): Promise<Exports> {
  const site = await DeliverySite.open({ targets: [{ name: "host", takesCompletions: false }] });
  const directory = join(temporaryFolder(), "exports");
  const files = new ExportFiles({ store: site.store, rendering: ownRendering, directory });
  await files.start();
  onTestFinished(() => files.close());
  return { site, directory, files };
}

/** Makes an export of everything and gives its id. */
async function make({ site }: Exports, form: ExportPlan["form"], name = "nightly"): Promise<number> {
  const plan = { companyId: site.companyId, name, when: null, form, target: "host" };
  const { made } = await site.store.write("site", (tx) =>
    makeExport(tx, plan, { now: site.now, dueAt: null }),
  );
  return made.id;
}

async function render({ site, files }: Exports, exportId: number) {
  const row = (await site.rows()).findLast(({ subject_id }) => subject_id === exportId);
  if (row === undefined) throw new Error("each export has a delivery");
  const { id, guid, name } = row;
  return await files.render({
    ...{ id, guid, name, companyId: site.companyId, companyCode: "ACME", targetId: row.target_id },
    ...{
      kind: "export",
      subjectId: exportId,
      orderKey: "nightly",
      dueAt: 0,
      attempts: 0,
      firstAttemptAt: null,
      createdAt: 0,
    },
  });
}

interface ReadFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

async function readAll({ files }: Delivery): Promise<readonly ReadFile[]> {
  const all = [];
  for (const file of files) {
    const bytes = await file.read();
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    all.push({ name: file.name, text: Buffer.from(bytes).toString(), sha256 });
  }
  return all;
}

/** Of each file that a manifest lists: name, hash and bytes. */
function listedIn(manifest: string): readonly string[] {
  const value = (file: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(file)?.[1] ?? "";
  return [...manifest.matchAll(/<File>([\s\S]*?)<\/File>/g)].map(([, file = ""]) => {
    const name = value(file, "FileName");
    return `${name} ${value(file, "Sha256")}`;
  });
}

function schemaFaultOf(xml: string, schemaName: string): string | undefined {
  const option = ParseOption.XML_PARSE_NONET;
  const schema = XmlDocument.fromBuffer(readFileSync(join(projectFolder, "xsd", schemaName)), { option });
  const validator = XsdValidator.fromDoc(schema);
  const document = XmlDocument.fromString(xml, { option });
  try {
    validator.validate(document);
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    document.dispose();
    validator.dispose();
    schema.dispose();
  }
}

describe("an export as one document", () => {
  test("has all stops in the order in which they were completed, and a manifest that names its hash", async () => {
    const exports = await open();
    await exports.site.complete("S1", "S2", "S3");
    const { delivery, size } = await render(exports, await make(exports, "document"));
    const [document, manifest, ...more] = await readAll(delivery);
    if (document === undefined || manifest === undefined) throw new Error("there are two files");
    expect(more).toEqual([]);
    expect([delivery.directory, document.name, manifest.name]).toEqual([
      undefined,
      "acme_nightly_000001.xml",
      "acme_nightly_000001.manifest.xml",
    ]);
    const numbers = [...document.text.matchAll(/<StopNbr>(\w+)</g)].map(([, number]) => number);
    expect(numbers).toEqual(["S1", "S2", "S3"]);
    expect(listedIn(manifest.text)).toEqual([`${document.name} ${document.sha256}`]);
    expect(schemaFaultOf(document.text, "stop-completion.xsd")).toBeUndefined();
    expect(schemaFaultOf(manifest.text, "export-manifest.xsd")).toBeUndefined();
    expect(size).toBe(Buffer.byteLength(document.text + manifest.text));
  });

  test("of nothing is a document of no stops, and obeys its XSD", async () => {
    const exports = await open();
    const { delivery } = await render(exports, await make(exports, "document"));
    const [document, manifest] = await readAll(delivery);
    expect(document?.text).not.toContain("StopNbr");
    expect(schemaFaultOf(document?.text ?? "", "stop-completion.xsd")).toBeUndefined();
    expect(schemaFaultOf(manifest?.text ?? "", "export-manifest.xsd")).toBeUndefined();
  });
});

describe("an export as single files", () => {
  test("has the file of each completion in a folder, and the manifest last", async () => {
    const exports = await open();
    await exports.site.complete("S1", "S2", "S1");
    const { delivery } = await render(exports, await make(exports, "files"));
    expect(delivery.directory).toBe("nightly-2026-11-05-000001");
    const files = await readAll(delivery);
    expect(files.map(({ name }) => name)).toEqual([
      "s1_20261105_080000.xml",
      "s2_20261105_080000.xml",
      "s1_20261105_080001.xml",
      "manifest.xml",
    ]);
    const manifest = files.at(-1)?.text ?? "";
    expect(listedIn(manifest)).toEqual(files.slice(0, -1).map(({ name, sha256 }) => `${name} ${sha256}`));
    expect(schemaFaultOf(manifest, "export-manifest.xsd")).toBeUndefined();
    for (const { text } of files.slice(0, -1))
      expect(schemaFaultOf(text, "stop-completion.xsd")).toBeUndefined();
  });

  test("may have many more files than are read from the database at once", async () => {
    const exports = await open();
    const numbers = Array.from({ length: 150 }, (_value, index) => `s${index}`);
    await exports.site.complete(...numbers);
    const { delivery } = await render(exports, await make(exports, "files"));
    const files = await readAll(delivery);
    expect(files.length).toBe(151);
    expect(files.slice(0, -1).map(({ name }) => name.split("_")[0])).toEqual(numbers);
    expect(listedIn(files.at(-1)?.text ?? "").length).toBe(150);
  });
});

describe("the bytes of an export", () => {
  test.each(["document", "files"] as const)(
    "are the same at each attempt, after a new start and when stops have changed since (%s)",
    async (form) => {
      const exports = await open();
      await exports.site.complete("S1", "S2");
      const id = await make(exports, form);
      const first = await readAll((await render(exports, id)).delivery);
      expect(await readAll((await render(exports, id)).delivery)).toEqual(first);
      await exports.site.complete("S1", "S3");
      await exports.site.store.write("site", async (tx) => {
        await tx
          .updateTable("stops")
          .set({ body: JSON.stringify({ stopNbr: "S1", bol: "new" }) })
          .execute();
      });
      const files = new ExportFiles({
        ...{ store: exports.site.store, rendering, directory: join(temporaryFolder(), "other") },
      });
      await files.start();
      expect(await readAll((await render({ ...exports, files }, id)).delivery)).toEqual(first);
      await files.close();
    },
  );
});

describe("what is rendered", () => {
  /** Counts how often each completion is rendered. */
  function counting(counts: Map<string, number>): ExportRendering {
    return {
      ...rendering,
      async completion(stored, companyCode) {
        counts.set(stored.stopNbr, (counts.get(stored.stopNbr) ?? 0) + 1);
        return await rendering.completion(stored, companyCode);
      },
    };
  }

  test("is rendered once for all attempts and readers", async () => {
    const counts = new Map<string, number>();
    const exports = await open(counting(counts));
    await exports.site.complete("S1", "S2");
    const id = await make(exports, "files");
    const all = await Promise.all([render(exports, id), render(exports, id)]);
    await Promise.all(all.map(({ delivery }) => readAll(delivery)));
    await render(exports, id);
    expect([...counts.values()]).toEqual([1, 1]);
  });

  test("stays on the disk until no delivery of it is to be done, and is gone then", async () => {
    const exports = await open();
    const { site, files, directory } = exports;
    await site.complete("S1");
    const [one, two] = [await make(exports, "document"), await make(exports, "document", "other")];
    await render(exports, one);
    await render(exports, two);
    await files.tidy();
    expect(readdirSync(directory).length).toBe(2);
    await site.store.write("site", async (tx) => {
      await tx.updateTable("deliveries").set({ state: "delivered" }).where("subject_id", "=", one).execute();
    });
    await files.tidy();
    expect(readdirSync(directory)).toEqual([`${two}.spool`]);
    await files.close();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("that a crash has left is thrown away at the start", async () => {
    const exports = await open();
    const directory = join(temporaryFolder(), "left");
    mkdirSync(directory);
    writeFileSync(join(directory, "1.spool"), "half of it");
    const files = new ExportFiles({ store: exports.site.store, rendering, directory });
    await files.start();
    expect(readdirSync(directory)).toEqual([]);
  });

  test("is given up when the daemon stops, and leaves nothing behind", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: ExportRendering = {
      ...rendering,
      async completion(stored, companyCode) {
        resolve();
        return await rendering.completion(stored, companyCode);
      },
    };
    const exports = await open(slow);
    await exports.site.complete(...Array.from({ length: 200 }, (_value, index) => `s${index}`));
    const rendered = render(exports, await make(exports, "files"));
    await promise;
    exports.files.stopRendering();
    await expect(rendered).rejects.toThrow("stopping");
    expect(readdirSync(exports.directory)).toEqual([]);
  });

  test("and fails is begun anew at the next attempt", async () => {
    let failures = 1;
    const exports = await open({
      ...rendering,
      async completion(stored, companyCode) {
        if (failures-- > 0) throw new Error("no document");
        return await rendering.completion(stored, companyCode);
      },
    });
    await exports.site.complete("S1");
    const id = await make(exports, "files");
    await expect(render(exports, id)).rejects.toThrow("no document");
    expect(readdirSync(exports.directory)).toEqual([]);
    expect((await readAll((await render(exports, id)).delivery)).length).toBe(2);
  });
});
