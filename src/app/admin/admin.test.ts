import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { addCompany, addUser, listCompanies, listUsers, setCompany, setUserEnabled } from "./admin.ts";
import { initialise } from "./init.ts";
import { retryFiles, retrySelectedFiles } from "./file-retry.ts";
import { listLedger, showFile } from "./ledger-admin.ts";
import { validateFiles } from "./validate-files.ts";
import { WrongUseError } from "./wrong-use-error.ts";

describe("the commands of an administrator", () => {
  let dir: string;
  let config: Config;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-admin-"));
    await initialise({ dir, company: "ACME", user: "host1", httpPort: 0, sftpPort: 0 });
    const loaded = await loadConfig({ path: join(dir, "dropgate.yaml"), env: {}, cwd: "/" });
    if (loaded.kind === "faulty") throw new Error("the configuration is faulty");
    config = loaded.config;
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  function stopFile(text: string): string {
    return `<Stop><Function>01</Function><StopNbr>4711</StopNbr>${text}</Stop>`;
  }

  // A server has one writer wait for another by itself.
  itOnSqlite("wait for a writer that has the database, and then do their work", async () => {
    const other = new BetterSqlite(join(config.stateDir, "dropgate.db"));
    other.exec("begin immediate");
    const added = addCompany(config, "OTHER");
    setTimeout(() => other.exec("commit"), 700);
    expect(await added).toMatchObject({ code: "OTHER", isNew: true });
    other.close();
  });

  it("do not make a state directory out of a mistyped one, nor a state in an empty one", async () => {
    const nowhere = { ...config, stateDir: join(dir, "typo") };
    for (const command of [() => listCompanies(nowhere), () => addCompany(nowhere, "ACME")]) {
      await expect(command()).rejects.toThrow(WrongUseError);
      await expect(command()).rejects.toThrow("typo does not exist: mount");
    }
    expect(await readdir(dir)).not.toContain("typo");
    await mkdir(nowhere.stateDir);
    await expect(addCompany(nowhere, "ACME")).rejects.toThrow("there is no state in");
    expect(await readdir(nowhere.stateDir)).toEqual([]);
  });

  // The file of SQLite is what was removed.
  itOnSqlite("say that a database is missing although it was there, and make no new one", async () => {
    for (const suffix of ["", "-wal", "-shm"])
      await rm(join(config.stateDir, `dropgate.db${suffix}`), { force: true });
    const file = join(dir, "4711_20261105_080000.xml");
    await writeFile(file, stopFile(""));
    const attempts = [
      () => listLedger(config, {}, { limit: 5 }),
      () => addCompany(config, "OTHER"),
      () => validateFiles(config, [file], {}),
    ];
    for (const attempt of attempts)
      await expect(attempt()).rejects.toThrow(/is missing although .* it was there: restore it/);
    expect(await readdir(config.stateDir)).not.toContain("dropgate.db");
  });

  it("add a company once, whatever the case of its code", async () => {
    expect(await addCompany(config, "acme")).toMatchObject({ code: "ACME", isNew: false });
    await expect(addCompany(config, "a b")).rejects.toThrow(/company code/);
  });

  it("set name and address of a company, keep what is not given, and take away what is empty", async () => {
    const set = await setCompany(config, "acme", { name: " Acme Ltd ", addr1: "1 Dock Road", zip: "08901" });
    expect(set).toMatchObject({ code: "ACME", name: "Acme Ltd", addr1: "1 Dock Road", zip: "08901" });
    await setCompany(config, "ACME", { addr1: "", city: "Newark" });
    const [company] = await listCompanies(config);
    const { createdAt: _, ...shown } = { ...company };
    expect(shown).toEqual({ code: "ACME", name: "Acme Ltd", city: "Newark", zip: "08901" });
    await expect(setCompany(config, "NONE", { name: "x" })).rejects.toThrow("there is ACME");
    await expect(setCompany(config, "ACME", {})).rejects.toThrow("give --name");
    await expect(setCompany(config, "ACME", { name: "x".repeat(2_001), city: "a\tb" })).rejects.toThrow(
      /name is 2001 characters long.*; city has control characters/,
    );
  });

  it("add, disable and list users", async () => {
    const options = { userName: "eve", companyCode: "acme", roles: ["DI_Driver"] };
    expect((await addUser(config, options)).generatedPassword).toBeDefined();
    expect(await setUserEnabled(config, { userName: "eve" }, false)).toEqual({ isChanged: true });
    expect(await listUsers(config, { company: "ACME" })).toMatchObject([
      { userName: "eve", isEnabled: false },
      { userName: "host1", isEnabled: true },
    ]);
    await expect(listUsers(config, { company: "NONE" })).rejects.toThrow("there is ACME");
  });

  it("refuse to try again what is not there", async () => {
    const { retries } = await retryFiles(config, ["1"], { isDryRun: false });
    expect(retries).toEqual([
      { given: "1", id: null, name: null, why: expect.stringContaining("no such ledger entry") },
    ]);
    const none = { ids: [], items: [], last: null, notDone: [] };
    const selected = await retrySelectedFiles(config, { state: "refused" }, { isDryRun: false, limit: 5 });
    expect(selected).toMatchObject(none);
    expect(await showFile(config, "1")).toBeUndefined();
  });

  it("know the states of files", async () => {
    const none = { items: [], isCut: false };
    expect(await listLedger(config, { state: "waiting" }, { limit: 5 })).toEqual(none);
    await expect(listLedger(config, { state: "lost" }, { limit: 5 })).rejects.toThrow("use one of waiting");
    await expect(listLedger(config, { reason: 9999 }, { limit: 5 })).rejects.toThrow(
      "9999 is no reason code",
    );
  });

  it("validate a file without leaving a trace", async () => {
    const file = join(dir, "4711_20261105_080000.xml");
    await writeFile(file, stopFile("<ShipToCity>Berlin</ShipToCity>"));
    const would = {
      verdict: "applied",
      changes: [{ stopNbr: "4711", effect: "created", statusBefore: null }],
    };
    expect(await validateFiles(config, [file], {})).toMatchObject([would]);
    expect(await validateFiles(config, [file], {})).toMatchObject([would]);
    expect((await listLedger(config, {}, { limit: 5 })).items).toEqual([]);
  });

  it("tell all that is wrong with a file, its name and its document", async () => {
    const file = join(dir, "Wrong.xml");
    await writeFile(file, stopFile("<Weight>x</Weight><Nope/>"));
    const [validated] = await validateFiles(config, [file], {});
    expect(validated?.verdict).toBe("refused");
    expect(validated?.reasons.map(({ reasonCode }) => reasonCode)).toEqual([952, 951, 951]);
    await copyFile(file, join(dir, "copy"));
    await writeFile(file, stopFile(""));
    const [named] = await validateFiles(config, [file], {});
    expect(named).toMatchObject({
      verdict: "refused",
      reasons: [{ reasonCode: 952 }],
      changes: [{ effect: "created" }],
    });
  });

  it("want the company to be named when there are several", async () => {
    await addCompany(config, "OTHER");
    const file = join(dir, "4711_20261105_080000.xml");
    await writeFile(file, stopFile(""));
    await expect(validateFiles(config, [file], {})).rejects.toThrow("name one with --company");
    expect(await validateFiles(config, [file], { company: "other" })).toMatchObject([{ verdict: "applied" }]);
  });
});
