import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import type { DecidedState } from "../../domain/files/file-state.ts";
import type { Fault } from "../../lib/errors.ts";
import { findCompany } from "../../store/accounts/companies.ts";
import { enterFile, recordDecision } from "../../store/ledger/files.ts";
import { withAdminStore } from "./admin-store.ts";
import { initialise } from "./init.ts";
import { listLedger } from "./ledger-admin.ts";
import { type ValidatedFile, validateFiles } from "./validate-files.ts";
import { WrongUseError } from "./wrong-use-error.ts";

const good = "<Stop><Function>01</Function><StopNbr>4711</StopNbr></Stop>";
const bad = "<Stop><Function>01</Function><StopNbr>4711</StopNbr><Weight>x</Weight></Stop>";
const name = "4711_20261105_080000.xml";
const nothing = { created: 0, updated: 0, deleted: 0, documentId: null, firstId: null };

describe("a file whose name was decided before, validated", () => {
  let dir: string;
  let config: Config;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-validate-"));
    await initialise({ dir, company: "ACME", user: "host1", httpPort: 0, sftpPort: 0 });
    const loaded = await loadConfig({ path: join(dir, "dropgate.yaml"), env: {}, cwd: "/" });
    if (loaded.kind === "faulty") throw new Error("the configuration is faulty");
    config = loaded.config;
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function decided(file: {
    name: string;
    content: string;
    state: DecidedState;
    faults?: Fault[];
  }): Promise<void> {
    const { content, state, faults = [] } = file;
    await withAdminStore(config, (store) =>
      store.write("site", async (tx) => {
        const companyId = (await findCompany(tx, "ACME"))?.id ?? 0;
        const arrival = { channel: "sftp", userName: null, receivedAt: 1, location: "in", size: 1 };
        const id = await enterFile(tx, { companyId, name: file.name, nameTime: 20261105080000, ...arrival });
        const sha256 = createHash("sha256").update(content).digest("hex");
        const about = { size: 1, stopFunction: "01", stopNbr: "4711", decidedAt: 0, location: "error" };
        await recordDecision(tx, { id, state, sha256, faults, ...about, ...nothing });
      }),
    );
  }

  async function validated(fileName: string, content: string): Promise<ValidatedFile | undefined> {
    await writeFile(join(dir, fileName), content);
    const before = await listLedger(config, {}, { limit: 9 });
    const [outcome] = await validateFiles(config, [join(dir, fileName)], {});
    expect(await listLedger(config, {}, { limit: 9 })).toEqual(before);
    return outcome;
  }

  it("and refused: names the entry and shows the faults of the document all the same", async () => {
    await decided({
      name,
      content: bad,
      state: "refused",
      faults: [{ code: "xsdMismatch", message: "then" }],
    });
    expect(await validated(name, bad)).toMatchObject({
      verdict: "duplicate",
      first: {
        id: 1,
        state: "refused",
        decidedAt: "1970-01-01T00:00:00.000Z",
        reasons: [{ reasonCode: 951 }],
      },
      underNewTime: "refused",
      reasons: [{ reasonCode: 951 }],
      changes: [],
    });
  });

  it("and refused for a cause that is gone: tells what a new time would change", async () => {
    const faults: Fault[] = [{ code: "partnerNotFound", message: "then" }];
    await decided({ name, content: good, state: "refused", faults });
    expect(await validated(name, good)).toMatchObject({
      verdict: "duplicate",
      underNewTime: "applied",
      reasons: [],
      changes: [{ stopNbr: "4711", effect: "created" }],
    });
  });

  it.each([
    ["/nonexist/1_20261105_080000.xml", "there is no file /nonexist/1_20261105_080000.xml"],
    ["/tmp", "/tmp is a folder: name the files in it"],
    ["/dev/null", "/dev/null cannot be read: it is not a regular file"],
  ])("that is no file is wrong use: %s", async (path, message) => {
    await writeFile(join(dir, name), good);
    const attempt = validateFiles(config, [join(dir, name), path], {});
    await expect(attempt).rejects.toThrow(WrongUseError);
    await expect(validateFiles(config, [path], {})).rejects.toThrow(message);
  });

  it("and refused for its name: shows the fault of the name under its own name", async () => {
    await decided({ name: "Odd.xml", content: bad, state: "refused" });
    const outcome = await validated("Odd.xml", bad);
    expect(outcome).toMatchObject({ verdict: "duplicate", underNewTime: "refused" });
    expect(outcome?.reasons.map(({ reasonCode }) => reasonCode)).toEqual([952, 951]);
    expect(outcome?.reasons[0]?.message).toMatch(/^Odd\.xml: /);
  });

  it("and applied, now with other content: shows the faults of that besides 955", async () => {
    await decided({ name, content: good, state: "applied" });
    const outcome = await validated(name, bad);
    expect(outcome).toMatchObject({ verdict: "refused" });
    expect(outcome?.reasons.map(({ reasonCode }) => reasonCode)).toEqual([955, 951]);
    expect(await validated(name, good)).toMatchObject({ verdict: "duplicate", first: { state: "applied" } });
  });
});
