/** Exports on the whole way: made, rendered, sent by the queue to a real folder. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { saveOutboundSettings } from "../../src/app/daemon/outbound-settings.ts";
import { createTargets } from "../../src/app/daemon/outbound-targets.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import { createExportRendering, ExportFiles } from "../../src/outbound/export-files.ts";
import { deliverAgain, type ExportPlan, makeExport } from "../../src/outbound/export-runs.ts";
import { DeliverySite } from "../support/delivery-site.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Site {
  readonly site: DeliverySite;
  readonly stateDir: string;
  readonly files: ExportFiles;
}

async function configured(stateDir: string, yaml: string): Promise<Config> {
  const path = join(stateDir, "..", "dropgate.yaml");
  writeFileSync(path, `stateDir: ${stateDir}\n${yaml}`);
  const loaded = await loadConfig({ path, env: {}, cwd: stateDir });
  if (loaded.kind === "faulty") throw new Error(formatConfigFaults(loaded.faults));
  return loaded.config;
}

async function open(yaml = "companies: {}"): Promise<Site> {
  const stateDir = join(temporaryFolder(), "state");
  mkdirSync(stateDir);
  const config = await configured(stateDir, yaml);
  const site = await DeliverySite.open();
  await saveOutboundSettings(site.store, config);
  const files = new ExportFiles({
    store: site.store,
    rendering: createExportRendering(async () => undefined),
    directory: join(stateDir, "exports"),
  });
  await files.start();
  onTestFinished(() => files.close());
  const targets = createTargets({ config: () => config, stateDir });
  await site.startQueue({ render: files.render, targets });
  return { site, stateDir, files };
}

async function send({ site }: Site, form: ExportPlan["form"], target = "outbound") {
  const plan = { companyId: site.companyId, name: "nightly", when: null, form, target } as const;
  const made = await site.store.write("site", (tx) => makeExport(tx, plan, { now: site.now, dueAt: null }));
  return { plan, made };
}

function contentsOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

/** Only completions that have been exported: the queue of the test renders nothing else. */
async function complete({ site }: Site, ...stopNbrs: readonly string[]): Promise<void> {
  await site.store.write("site", async (tx) => {
    await tx.updateTable("outbound_targets").set({ takes_completions: 0 }).execute();
  });
  await site.complete(...stopNbrs);
}

describe("an export", () => {
  test("lies in the company's own outbound/ as document and manifest, and its spool is gone", async () => {
    const one = await open();
    await complete(one, "S1", "S2");
    await send(one, "document");
    await one.site.pass(0);
    expect(await one.site.states()).toEqual(["delivered"]);
    const folder = join(one.stateDir, "companies/ACME/outbound");
    expect(readdirSync(folder).toSorted()).toEqual([
      "acme_nightly_000001.manifest.xml",
      "acme_nightly_000001.xml",
    ]);
    const [row] = await one.site.rows();
    const sizes = Object.values(contentsOf(folder)).map((text) => Buffer.byteLength(text));
    expect(row?.size).toBe(sizes.reduce((sum, size) => sum + size, 0));
    await one.files.tidy();
    expect(readdirSync(join(one.stateDir, "exports"))).toEqual([]);
  });

  test("of single files lies in a folder of its own, and again it is the same", async () => {
    const one = await open();
    await complete(one, "S1", "S2");
    const { plan } = await send(one, "files");
    await one.site.pass(0);
    const folder = join(one.stateDir, "companies/ACME/outbound/nightly-2026-11-05-000001");
    const first = contentsOf(folder);
    expect(Object.keys(first).toSorted()).toEqual([
      "manifest.xml",
      "s1_20261105_080000.xml",
      "s2_20261105_080000.xml",
    ]);
    const { site } = one;
    await site.store.write("site", (tx) => deliverAgain(tx, plan, { sequenceNbr: 1, now: site.now }));
    await site.pass(1_000);
    expect(await site.states()).toEqual(["delivered", "delivered"]);
    expect(contentsOf(folder)).toEqual(first);
  });

  test("waits while its folder is missing, with one rendering, and is whole once it is there", async () => {
    const one = await open("companies: {ACME: {outbound: {targets: {share: {type: folder, path: share}}}}}");
    await complete(one, "S1");
    await send(one, "document", "share");
    await one.site.pass(0);
    const [waiting] = await one.site.rows();
    expect([waiting?.state, waiting?.fault]).toEqual(["waiting", "missingFolder"]);
    const share = join(one.stateDir, "..", "share");
    expect(existsSync(share)).toBe(false);
    mkdirSync(share);
    await one.site.pass(3_600_000);
    expect(await one.site.states()).toEqual(["delivered"]);
    expect(readdirSync(share).length).toBe(2);
  });

  test("keeps its name: where another file has it, it is a dead letter that says so", async () => {
    const one = await open();
    await complete(one, "S1");
    const folder = join(one.stateDir, "companies/ACME/outbound");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "acme_nightly_000001.xml"), "something else");
    await send(one, "document");
    await one.site.pass(0);
    const [row] = await one.site.rows();
    expect(row).toMatchObject({ state: "dead", name: "acme_nightly_000001.xml" });
    expect(row?.fault_text).toContain("another file of that name");
    expect(readFileSync(join(folder, "acme_nightly_000001.xml"), "utf8")).toBe("something else");
  });
});
