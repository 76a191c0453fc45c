import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { formatConfigFaults } from "../../config/reader/config-fault.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { mayMount, startTinyDisk } from "../../../test/support/tiny-disk.ts";
import { openStore } from "../../store/database/database.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { listOutboundTargets } from "../../store/outbound/outbound-targets.ts";
import { checkOutbound } from "../checks/check-outbound.ts";
import {
  allExportPlans,
  defaultExportPlan,
  outboundCopyOf,
  saveOutboundSettings,
} from "./outbound-settings.ts";
import { createTargets } from "./outbound-targets.ts";

const env = { PASS: "hunter2" };
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-targets-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** With this outbound section of ACME, in one line. */
async function configured(outbound: string, variables: NodeJS.ProcessEnv = env): Promise<Config> {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, `stateDir: state\ncompanies: {ACME: {outbound: {${outbound}}}}`);
  const loaded = await loadConfig({ path, env: variables, cwd: folder });
  if (loaded.kind === "faulty") throw new Error(formatConfigFaults(loaded.faults));
  return loaded.config;
}

const https = "type: https, url: 'https://127.0.0.1:1/'";
const t = { companyCode: "ACME", name: "t" };

function createDelivery(bytes = "<a/>") {
  const file = { name: "a.xml", contentType: "application/xml", read: async () => Buffer.from(bytes) };
  return { id: "1", companyCode: "ACME", files: [file] };
}

describe("the targets of the configuration", () => {
  test("are the same ones until something has changed, be it a secret or the content of a file", async () => {
    writeFileSync(join(folder, "ca.pem"), "one");
    const settings = `targets: {t: {${https}, user: u, password: 'env:PASS', ca: ca.pem}}`;
    let config = await configured(settings);
    const targets = createTargets({ config: () => config, stateDir: config.stateDir });
    const first = targets(t);
    expect(first.timeoutMs).toBe(65_000);
    config = await configured(settings);
    expect(targets({ ...t, companyCode: "ACME" })).toBe(first);
    config = await configured(settings, { PASS: "other" });
    const second = targets(t);
    expect(second).not.toBe(first);
    writeFileSync(join(folder, "ca.pem"), "two");
    const third = targets(t);
    expect(third).not.toBe(second);
    config = await configured(settings.replace("ca: ", "timeoutMs: 1000, ca: "), { PASS: "other" });
    expect(targets(t).timeoutMs).toBe(6_000);
    expect(targets(t)).not.toBe(third);
  });

  test("put files where they belong: the company's own folder, or the one that is named", async () => {
    const config = await configured("targets: {t: {type: folder}, u: {type: folder, path: share}}");
    mkdirSync(join(folder, "share"));
    const targets = createTargets({ config: () => config, stateDir: config.stateDir });
    for (const name of ["t", "u"]) {
      const { target } = targets({ companyCode: "ACME", name });
      const signal = new AbortController().signal;
      expect(await target.deliver(createDelivery(), signal)).toEqual({ kind: "delivered" });
      await target.close();
    }
    expect(readFileSync(join(folder, "state/companies/ACME/outbound/a.xml"), "utf8")).toBe("<a/>");
    expect(readFileSync(join(folder, "share/a.xml"), "utf8")).toBe("<a/>");
  });

  test("that name a file which cannot be read say so at each attempt, and what waits for them waits", async () => {
    const config = await configured(`targets: {t: {${https}, ca: missing.pem}}`);
    const { target } = createTargets({ config: () => config, stateDir: config.stateDir })(t);
    expect(await target.deliver(createDelivery(), new AbortController().signal)).toMatchObject({
      ...{ kind: "failed", fault: "configuration", isPermanent: false, scope: "target" },
      message: expect.stringContaining(`the file ${join(folder, "missing.pem")} (ca) cannot be read`),
    });
  });

  test("are made for each type", async () => {
    const server = "host: 127.0.0.1, port: 1, user: u, password: 'env:PASS'";
    const config = await configured(
      `targets: {s: {type: sftp, ${server}}, f: {type: ftp, ${server}, allowPlain: true}, g: {type: ftps, ${server}}, h: {${https}}}`,
    );
    const targets = createTargets({ config: () => config, stateDir: config.stateDir });
    for (const name of ["s", "f", "g", "h"]) {
      const { target } = targets({ companyCode: "ACME", name });
      expect(target.concurrency).toBe(name === "h" ? 4 : 2);
      expect((await target.probe(AbortSignal.timeout(20_000))).kind).toBe("failed");
      await target.close();
    }
    expect(() => targets({ companyCode: "ACME", name: "x" })).toThrow("has no target x");
  });
});

describe("the copy of the configuration in the store", () => {
  test("has targets, events and whether documents are embedded, for all companies that there are", async () => {
    const config = await configured(
      "targets: {t: {type: folder}, u: {type: folder, path: x, completions: none}}, on: [7014], embedDocuments: true, exports: {e: {schedule: 0 3 * * *, target: u}}",
    );
    mkdirSync(join(folder, "state"));
    const store = await openStore(config.stateDir);
    try {
      for (const code of ["ACME", "OTHER"])
        await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
      await saveOutboundSettings(store, config);
      const targets = await listOutboundTargets(store.read);
      expect(targets.map(({ companyCode, name }) => `${companyCode} ${name}`)).toEqual([
        "ACME t",
        "ACME u",
        "OTHER outbound",
      ]);
      expect(outboundCopyOf(config, { id: 1, code: "acme" })).toEqual({
        companyId: 1,
        targets: [
          { name: "t", takesCompletions: true },
          { name: "u", takesCompletions: false },
        ],
        events: [7014],
        embedsDocuments: true,
      });
      const when = { schedule: "0 3 * * *", zone: "UTC" };
      expect(await allExportPlans(store, config)).toEqual([
        { companyId: 1, name: "e", when, form: "document", target: "u" },
      ]);
      expect(defaultExportPlan(config, { id: 1, code: "ACME" })).toBeUndefined();
      expect(defaultExportPlan(config, { id: 2, code: "OTHER" })).toMatchObject({ when: null });
    } finally {
      await store.close();
    }
  });
});

describe("the check of targets", () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer((socket) => socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });

  afterEach(() => void server.close());

  async function findings(outbound: string, isRemote = false) {
    const found = await checkOutbound(await configured(outbound), ["ACME"], { isRemote });
    return found.map(({ status, what }) => `${status} ${what}`);
  }

  test("finds folders that are missing or no folder, and certificates that cannot be read", async () => {
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "share"));
    expect(await findings("targets: {t: {type: folder}}")).toEqual([]);
    const text = await findings(
      `targets: {a: {type: folder, path: gone}, b: {type: folder, path: file}, c: {type: folder, path: share}, d: {${https}, ca: missing}}`,
    );
    expect(text).toEqual([
      expect.stringMatching(/^warning the target a of ACME: .*\/gone cannot be used \(ENOENT\)/),
      expect.stringMatching(/^problem the target b of ACME: .*\/file is no folder/),
      expect.stringMatching(/^ok the target c of ACME: .*\/share can be written/),
      expect.stringMatching(/^problem the target d of ACME: ca .*\/missing cannot be read \(ENOENT\)/),
    ]);
  });

  test.skipIf(!mayMount)(
    "warns of a mount point that may be empty, and of a mount that must be there and is not",
    async () => {
      const disk = startTinyDisk();
      onTestFinished(() => disk.end());
      const plain = temporaryFolder();
      const text = await findings(
        `targets: {a: {type: folder, path: ${disk.path}}, b: {type: folder, path: ${plain}, mustBeMount: true}}`,
      );
      expect(text).toEqual([
        expect.stringMatching(/^warning the target a of ACME: .* is a mount point: /),
        expect.stringMatching(/^warning the target b of ACME: .*: nothing is mounted there/),
      ]);
      expect(await findings(`targets: {a: {type: folder, path: ${disk.path}, mustBeMount: true}}`)).toEqual([
        expect.stringMatching(/^ok the target a/),
      ]);
    },
  );

  test("tries servers only when it is asked to, and tells what they say", async () => {
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const plain = `targets: {t: {type: https, url: 'http://127.0.0.1:${port}/', allowPlain: true}}`;
    expect(await findings(plain)).toEqual([]);
    const [found] = await findings(plain, true);
    expect(found).toMatch(/^problem the target t of ACME cannot be used \(credentials\): /);
    const [refused] = await findings(`targets: {t: {${https}}}`, true);
    expect(refused).toMatch(/^problem the target t of ACME cannot be used \(unreachable\): /);
  });

  test("tells of a server that keeps silent what was waited for, and how long", async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : 0;
    const settings = `type: https, url: 'http://127.0.0.1:${port}/', allowPlain: true, timeoutMs: 1000`;
    const [found] = await findings(`targets: {t: {${settings}}}`, true);
    expect(found).toMatch(
      /^problem the target t of ACME cannot be used \(timeout\): .*http:\/\/127\.0\.0\.1:\d+\/: .* 1000 ms/,
    );
  });

  test("finds a certificate that the daemon may not read", async () => {
    if (process.getuid?.() === 0) return;
    writeFileSync(join(folder, "key"), "");
    chmodSync(join(folder, "key"), 0);
    const [found] = await findings(`targets: {t: {${https}, ca: key}}`);
    expect(found).toContain("(EACCES)");
  });
});
