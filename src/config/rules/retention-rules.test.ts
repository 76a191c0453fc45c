import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { agesOf } from "../company-settings.ts";
import { loadConfig } from "../load-config.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";

async function load(settings: object) {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: "/var/lib/dropgate", ...settings }));
  return await loadConfig({ path, env: {}, cwd: folder });
}

async function faultsOf(settings: object): Promise<string> {
  const outcome = await load(settings);
  return outcome.kind === "faulty" ? formatConfigFaults(outcome.faults) : "";
}

async function agesIn(settings: object, code = "ACME") {
  const outcome = await load(settings);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return agesOf(outcome.config, code);
}

const acme = (company: object) => ({ companies: { ACME: company } });

describe("the age of what a company keeps", () => {
  test("is for ever, but for what was always removed after 90 days", async () => {
    expect(await agesIn({})).toEqual({
      ...{ archive: "keep", error: "keep", receipts: "keep", ledger: "keep" },
      ...{ outbound: 90, messages: 90, positions: 90, imports: 90, appointments: 90 },
      ...{ events: "keep", documents: "keep", audit: "keep" },
    });
  });

  test("is its own, else that of all", async () => {
    const settings = {
      retention: { archive: 30, error: 60, receipts: 60, outbound: 10, ledger: 365 },
      ...acme({ retention: { archive: 40, outbound: "keep" } }),
    };
    expect(await agesIn(settings)).toMatchObject({ archive: 40, error: 60, outbound: "keep", ledger: 365 });
    expect(await agesIn(settings, "OTHER")).toMatchObject({ archive: 30, outbound: 10 });
  });

  test("is that of outbound.keepDays for all that this spoke of, as in files of earlier versions", async () => {
    const settings = { retention: { outbound: 10, events: 20 }, ...acme({ outbound: { keepDays: 5 } }) };
    expect(await agesIn(settings)).toMatchObject({
      ...{ outbound: 5, messages: 5, positions: 5, imports: 5, appointments: 5, events: 20, archive: "keep" },
    });
  });
});

describe("ages that make no sense", () => {
  test.each(["archive", "error", "receipts"])("are of a ledger that is younger than %s", async (kind) => {
    const ages = { archive: 30, error: 30, receipts: 30, ledger: 30 };
    expect(await faultsOf({ retention: ages })).toBe("");
    const longer = `retention.ledger: is 30, shorter than retention.${kind} (31): `;
    expect(await faultsOf({ retention: { ...ages, [kind]: 31 } })).toContain(longer);
    expect(await faultsOf({ retention: { ...ages, [kind]: "keep" } })).toContain(`retention.${kind} (keep)`);
  });

  test("are found in what a company has of its own and of all together", async () => {
    const retention = { archive: 30, error: 30, receipts: 30, ledger: 30 };
    const faults = await faultsOf({ retention, ...acme({ retention: { ledger: 20 } }) });
    expect(faults).toContain(
      "companies.ACME.retention.ledger: is 20, shorter than retention.archive (30): an entry of the ledger stays as long as its file; lengthen it, or shorten retention.archive",
    );
  });

  test("are those of keepDays beside the same in the section retention", async () => {
    const faults = await faultsOf(acme({ outbound: { keepDays: 5 }, retention: { imports: 5 } }));
    expect(faults).toContain(
      "companies.ACME.outbound.keepDays: says the same as companies.ACME.retention.imports; remove it",
    );
    expect(await faultsOf(acme({ outbound: { keepDays: 5 }, retention: { archive: 5 } }))).toBe("");
  });

  test.each([0, 36_501, 1.5, "forever", "30"])("are neither days nor keep: %s", async (archive) => {
    expect(await faultsOf({ retention: { archive } })).toContain(
      "retention.archive: must be a whole number of days from 1 to 36500, or keep",
    );
  });
});

describe("the folder that old files are moved to", () => {
  test.each([
    ["stateDir", "/var/lib/dropgate/old", {}],
    ["stateDir", "/var/lib", {}],
    ["backup.folder", "/srv/backup/old", { backup: { folder: "/srv/backup" } }],
    ["companies.ACME.folders[0].path", "/srv/in", acme({ folders: [{ path: "/srv/in/acme" }] })],
  ])("is outside of %s", async (of, moveTo, settings) => {
    expect(await faultsOf({ retention: { archive: 1, moveTo }, ...settings })).toContain(
      `retention.moveTo: overlaps with ${of}; name a folder outside of it`,
    );
  });

  test("has no effect as long as no file gets old, which is a warning", async () => {
    const warned = async (settings: object) => {
      const outcome = await load(settings);
      return outcome.kind === "loaded" ? outcome.warnings.map(({ path }) => path) : outcome.faults;
    };
    expect(await warned({ retention: { moveTo: "/srv/old" } })).toEqual(["retention.moveTo"]);
    expect(await warned({ retention: { moveTo: "/srv/old" }, ...acme({ retention: { error: 9 } }) })).toEqual(
      [],
    );
  });
});

describe("documents that go before what refers to them", () => {
  const warned = async (settings: object) => {
    const outcome = await load(settings);
    return outcome.kind === "loaded"
      ? outcome.warnings.map(({ path, message }) => `${path}: ${message}`)
      : [];
  };

  test("are a warning, once for all companies and for each that says otherwise", async () => {
    const own = { A: {}, B: { outbound: { keepDays: 120 } }, C: { retention: { documents: 80 } } };
    const warnings = await warned({ retention: { documents: 89 }, companies: own });
    expect(warnings).toEqual([
      expect.stringContaining(
        "retention.documents: is 89, shorter than retention.outbound (90): what is sent",
      ),
      expect.stringContaining(
        "retention.documents: is 89, shorter than companies.B.outbound.keepDays (120): ",
      ),
      expect.stringContaining(
        "companies.C.retention.documents: is 80, shorter than retention.outbound (90): ",
      ),
    ]);
  });

  test("are none when they stay as long", async () => {
    expect(await warned({ retention: { documents: 90 }, ...acme({ outbound: { keepDays: 5 } }) })).toEqual(
      [],
    );
  });
});
