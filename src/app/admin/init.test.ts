import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { psql } from "../../../test/support/postgres-programs.ts";
import { storeUrlOf } from "../../../test/support/store-url.ts";
import { loadConfig } from "../../config/load-config.ts";
import { listUsers, setPassword } from "./admin.ts";
import { type InitDone, type InitOptions, initialise } from "./init.ts";

describe("init", () => {
  let parent: string;
  let options: InitOptions;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), "dropgate-init-"));
    options = {
      dir: join(parent, "gate"),
      company: "ACME",
      user: "host1",
      httpPort: 0,
      sftpPort: 2200,
    };
  });

  afterEach(() => rm(parent, { recursive: true, force: true }));

  async function run(more: Partial<InitOptions> = {}): Promise<InitDone> {
    const outcome = await initialise({ ...options, ...more });
    if (outcome.kind === "faulty") throw new Error(JSON.stringify(outcome.faults));
    return outcome;
  }

  async function snapshot(): Promise<Record<string, string>> {
    const files = await readdir(options.dir, { recursive: true, withFileTypes: true });
    const plain = files.filter((file) => file.isFile() && !/-(wal|shm)$/.test(file.name));
    const contents = plain.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      // Opening a database may checkpoint it; what counts in it is looked at by itself.
      return [path, name === "dropgate.db" ? "" : await readFile(path, "hex")];
    });
    return Object.fromEntries(await Promise.all(contents));
  }

  it.each(["dropgate.restoring", "dropgate.db.restoring"])(
    "refuses a folder in which a restore was cut off, and changes nothing of %s",
    async (name) => {
      const stateDir = join(parent, "state");
      await mkdir(stateDir);
      await writeFile(join(stateDir, name), "as it was");
      await expect(run({ stateDir })).rejects.toThrow(`a restore to ${stateDir} is not done`);
      expect(await readdir(stateDir)).toEqual([name]);
    },
  );

  it("makes an administrator who operates the console, with a password that is shown once", async () => {
    const done = await run({ admin: "anna" });
    expect(done.console).toBe("http://127.0.0.1:0/console");
    expect(done.admin).toEqual({ userName: "anna", generatedPassword: expect.stringMatching(/^\S{20,}$/) });
    const loaded = await loadConfig({ path: done.configFile, env: {}, cwd: "/" });
    expect(loaded).toMatchObject({ kind: "loaded", config: { console: { operators: ["anna@ACME"] } } });
    const users = await listUsers({ stateDir: done.stateDir }, {});
    expect(users.find(({ userName }) => userName === "anna")?.memberships).toEqual([
      { companyCode: "ACME", roles: ["MemberAdmin"] },
    ]);
    const again = await run({ admin: "anna" });
    expect([again.made, again.ignored, again.admin]).toEqual([[], [], { userName: "anna" }]);
  });

  it("takes the administrator's password from a file, and says when it is another one by now", async () => {
    const adminPasswordFile = join(parent, "secret");
    await writeFile(adminPasswordFile, "open sesame\n");
    const done = await run({ admin: "anna", adminPasswordFile });
    expect(done.admin).toEqual({ userName: "anna", isPasswordRight: true });
    await setPassword({ stateDir: done.stateDir }, { userName: "anna" });
    expect((await run({ admin: "anna", adminPasswordFile })).admin).toEqual({
      ...{ userName: "anna", isPasswordRight: false },
    });
  });

  it("says that an administrator is no operator when the configuration was there already", async () => {
    const { configFile } = await run();
    expect((await run({ admin: "anna" })).ignored).toEqual([
      `anna@ACME is no operator of the console: ${configFile} was there already; add it to console.operators there`,
    ]);
  });

  it.each([
    [{ admin: "host1" }, "--admin and --user name the same user"],
    [{ admin: "a:b" }, 'the user name "a:b" is not valid'],
    [{ adminPasswordFile: "x" }, "--admin-password-file has no effect without --admin"],
    [{ admin: "anna", passwordFile: "-", adminPasswordFile: "-" }, "only one of the two passwords"],
  ] as const)("refuses %j before it makes anything", async (more, fault) => {
    await expect(run(more)).rejects.toThrow(fault);
    expect(await readdir(parent)).toEqual([]);
  });

  it("makes a configuration that loads, a private state directory, a private key, a company and its user", async () => {
    const done = await run();
    const loaded = await loadConfig({ path: done.configFile, env: {}, cwd: "/" });
    expect(loaded).toMatchObject({ kind: "loaded", warnings: [] });
    expect(loaded.kind === "loaded" && loaded.config.sftp.port).toBe(2200);
    expect(done.stateDir).toBe(join(options.dir, "var"));
    expect((await stat(done.stateDir)).mode & 0o777).toBe(0o750);
    const key = join(done.stateDir, "keys", "ssh_host_ed25519_key");
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    expect(done.hostKeyFingerprint).toMatch(/^SHA256:/);
    expect(done.generatedPassword).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/);
    expect(await readdir(done.companyFolder)).toContain("inbound");
    const users = await listUsers({ stateDir: done.stateDir }, {});
    expect(users).toMatchObject([
      { userName: "host1", memberships: [{ companyCode: "ACME", roles: ["DI_Integration"] }] },
    ]);
  });

  it("changes nothing when it is run again, and shows no password", async () => {
    const first = await run();
    const before = await snapshot();
    const again = await run({ httpPort: 1, sftpPort: 2 });
    expect(again.made).toEqual([]);
    expect(again.generatedPassword).toBeUndefined();
    expect(again.hostKeyFingerprint).toBe(first.hostKeyFingerprint);
    expect(again.ignored).toEqual([
      `--http-port 1 was ignored: ${first.configFile} was there already, and http.port is 0; change it there`,
      `--sftp-port 2 was ignored: ${first.configFile} was there already, and sftp.port is 2200; change it there`,
    ]);
    expect((await run()).ignored).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });

  it("finishes what an earlier run did not", async () => {
    const done = await run();
    await rm(join(done.stateDir, "keys"), { recursive: true });
    expect((await run()).made).toEqual([expect.stringContaining("SSH host key")]);
  });

  it("takes the password from a file, and writes it nowhere in clear", async () => {
    const passwordFile = join(parent, "password");
    await writeFile(passwordFile, "correct horse battery\n");
    const done = await run({ passwordFile });
    expect(done.generatedPassword).toBeUndefined();
    const texts = Object.values(await snapshot());
    expect(texts.some((hex) => hex.includes(Buffer.from("correct horse").toString("hex")))).toBe(false);
    const url = storeUrlOf(done.stateDir);
    const stored =
      url === undefined
        ? await readFile(join(done.stateDir, "dropgate.db"), "latin1")
        : psql(url, "select * from users");
    expect(stored).toContain("scrypt$");
    expect(stored).not.toContain("correct horse");
  });

  it("makes nothing when a name or the password is not of the form", async () => {
    const passwordFile = join(parent, "password");
    await writeFile(passwordFile, "short\n");
    const wrong = [{ company: "BAD CODE" }, { company: "A\nhttp: x" }, { user: "../x" }];
    for (const part of [...wrong, { passwordFile }])
      await expect(run(part)).rejects.toThrow(/is not valid|must have/);
    expect(await readdir(parent)).toEqual(["password"]);
  });

  it("says when the password in the file is not the user's any more, and leaves the user's alone", async () => {
    const passwordFile = join(parent, "password");
    await writeFile(passwordFile, "correct horse battery\n");
    expect((await run({ passwordFile })).isPasswordRight).toBe(true);
    const { stateDir, isPasswordRight } = await run({ passwordFile });
    expect(isPasswordRight).toBe(true);
    await setPassword({ stateDir }, { userName: "host1" });
    expect(await run({ passwordFile })).toMatchObject({ isPasswordRight: false, made: [] });
  });

  it("puts the state where it is told, named so that it can be moved with its configuration", async () => {
    const together = await run({ stateDir: options.dir });
    expect(together.stateDir).toBe(options.dir);
    expect(await readFile(together.configFile, "utf8")).toContain('\nstateDir: "."\n');
    const dir = join(parent, "apart");
    const apart = await run({ dir, stateDir: join(parent, "state") });
    expect(apart.stateDir).toBe(join(parent, "state"));
  });

  it("ends where the system makes no folders", async () => {
    await expect(run({ dir: "/proc/x2" })).rejects.toThrow(
      "the folder /proc/x2 cannot be made: /proc takes no new folders",
    );
  });

  it("refuses a company code that is none, and a password file that is empty", async () => {
    await expect(run({ company: "no blanks" })).rejects.toThrow(/company code/);
    await writeFile(join(parent, "empty"), "\n");
    await expect(run({ passwordFile: join(parent, "empty") })).rejects.toThrow(/is empty/);
  });

  it("reports the faults of a configuration that is there", async () => {
    await run();
    await writeFile(join(options.dir, "dropgate.yaml"), "nope: 1\n");
    expect(await initialise(options)).toMatchObject({ kind: "faulty", faults: [{ line: 1, path: "nope" }] });
  });
});
