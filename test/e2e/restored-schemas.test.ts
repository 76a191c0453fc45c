/** Backups whose database has another schema than the program that restores them. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { databaseFileName, markerFileName } from "../../src/store/database/database.ts";
import { findSchema } from "../../src/store/database/migrate.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import {
  type DatabaseFixture,
  databaseFixtures,
  fixturePassword,
  plantDatabase,
} from "../fixtures/databases/fixtures.ts";
import { http } from "../support/clients.ts";
import { company, oneParser, Site } from "../support/daemon.ts";
import { send, stopFile } from "../support/stop-files.ts";
// A backup by dropgate copies the file of SQLite; a server has tools of its own.
import { itOnSqlite as test } from "../support/store-dialect.ts";

let site: Site;

beforeEach(async () => {
  site = await Site.make({ inbound: oneParser });
});
afterEach(() => site.end());

const backups = () => join(site.folder, "backups");
const databaseOf = (stateDir: string) => join(stateDir, databaseFileName);
const sumOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

interface NotedSchema {
  readonly number: number;
  readonly fingerprint: string;
  readonly instance: unknown;
}

function schemaIn(path: string): NotedSchema {
  const database = new BetterSqlite(path, { readonly: true });
  const { number, fingerprint } = findSchema(database);
  const instance = database.prepare("select value from meta where key = 'instance'").pluck().get();
  database.close();
  return { number, fingerprint, instance };
}

/** Makes a backup and changes its database as if another version had made it; the folder of the backup. */
async function backupWith(change: (stateDir: string) => void): Promise<string> {
  const { folder } = await site.json<{ folder: string }>("backup", backups());
  const stateDir = join(folder, "state");
  change(stateDir);
  for (const suffix of ["-wal", "-shm"]) rmSync(databaseOf(stateDir) + suffix, { force: true });
  const list = join(folder, "files.sha256");
  const changed = [databaseFileName, markerFileName].reduce(
    (text, name) => {
      const row = new RegExp(`^\\w+(?=  state/${name}$)`, "m");
      return text.replace(row, sumOf(join(stateDir, name)));
    },
    readFileSync(list, "utf8"),
  );
  writeFileSync(list, changed);
  const manifest = join(folder, "manifest.json");
  const { number: schema, instance } = schemaIn(databaseOf(stateDir));
  const noted = JSON.parse(readFileSync(manifest, "utf8")) as object;
  writeFileSync(manifest, JSON.stringify({ ...noted, schema, instance, list: sumOf(list) }));
  return folder;
}

async function removeState(): Promise<void> {
  await rm(site.stateDir, { recursive: true });
}

const outdated = databaseFixtures.filter(({ name }) => /^(?:01|12)-/.test(name));

describe.each(outdated.map((fixture) => [fixture.name, fixture] as const))(
  "a backup of the older schema %s",
  (_name, fixture: DatabaseFixture) => {
    test("is verified and restored as it is; the first start copies and migrates it, and holds its deliveries", async () => {
      const folder = await backupWith((stateDir) => plantDatabase(stateDir, fixture));
      const backedUp = schemaIn(databaseOf(join(folder, "state")));
      const older = `its database has schema ${backedUp.number} of an older version`;
      expect(await site.mustRun("backup", folder, "--verify")).toContain(older);
      await removeState();
      const restored = await site.mustRun("restore", folder, "--to", site.stateDir);
      expect(restored).toContain(
        `schema ${backedUp.number} of an older version: the first start migrates it`,
      );
      const { number, fingerprint } = backedUp;
      expect(schemaIn(databaseOf(site.stateDir))).toMatchObject({ number, fingerprint });
      await site.start();
      const copy = `${databaseOf(site.stateDir)}.before-${currentSchema}`;
      expect(schemaIn(copy)).toMatchObject({ number, fingerprint });
      expect(schemaIn(databaseOf(site.stateDir)).number).toBe(currentSchema);
      const ready = await fetch(`${site.http}/readyz`);
      expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining("send again")]);
      const stop = await http(site, `/v5/stop/info/1001/${company}`, {
        userName: "host",
        password: fixturePassword,
      });
      expect(JSON.parse(stop.body)).toMatchObject({ Stop: { stop: { sealNbr: "77" } } });
      expect(await site.mustRun("delivery", "release")).toContain("Deliveries are released");
      await site.mustRun("user", "set-password", "host", "--password-file", site.passwordFile);
      await site.mustRun("user", "add-key", "host", "--key", `${site.keyFile}.pub`);
      expect(await send(site, stopFile("1009"))).toMatchObject({ status: 10, records: [1, 0, 0] });
    });
  },
);

describe("a backup of a newer schema", () => {
  async function newer(): Promise<string> {
    return await backupWith((stateDir) => {
      const database = new BetterSqlite(databaseOf(stateDir));
      database.exec("alter table stops add column colour text");
      database.prepare("update meta set value = ? where key = 'schema'").run(String(currentSchema + 1));
      database.close();
    });
  }

  test("is refused with the remedy, leaves no state, and the folder can be restored to", async () => {
    const good = await site.json<{ folder: string }>("backup", backups());
    const folder = await newer();
    const said = `has schema ${currentSchema + 1}, this dropgate knows ${currentSchema}: install the newer version`;
    const verified = await site.cli("backup", folder, "--verify");
    expect([verified.exitCode, verified.output]).toEqual([1, expect.stringContaining(said)]);
    await removeState();
    const refused = await site.cli("restore", folder, "--to", site.stateDir);
    expect([refused.exitCode, refused.output]).toEqual([1, expect.stringContaining(said)]);
    expect(readdirSync(site.stateDir)).not.toContain(databaseFileName);
    const served = await site.cli("serve");
    expect(served.exitCode, served.output).not.toBe(0);
    await site.mustRun("restore", good.folder, "--to", site.stateDir);
    expect(existsSync(databaseOf(site.stateDir))).toBe(true);
    await site.start();
    expect(await send(site, stopFile("1009"))).toMatchObject({ status: 10 });
  });
});
