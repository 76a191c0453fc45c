/** Failed sign-ins are counted over SFTP and HTTP together; changes of a user take effect at once. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http, sftp } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";

const path = `/v5/stop/info/NONE/${company}`;
const bans = { maxScore: 5, banMs: 60_000, windowMs: 600_000 };

let site: Site;

beforeAll(async () => {
  const ftp = { enabled: true, port: 0, allowPlain: true };
  site = await Site.make({ ftp, security: { wrongPasswordDelayMs: 200, bans } });
  await site.start();
});
afterAll(() => site.end());

async function reload(security: Record<string, string | number | Record<string, unknown>>): Promise<void> {
  const seen = site.daemon.log.length;
  await site.reconfigure({ security: security as never });
  site.daemon.process.kill("SIGHUP");
  await waitFor("the reload", () =>
    site.daemon.log.slice(seen).some(({ msg }) => msg === "configuration reloaded"),
  );
}

describe("a ban", () => {
  test("follows on failures over SFTP and HTTP together, and closes both", async () => {
    // 3 points over SFTP, then one each for an unknown user and a wrong password over HTTP.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const result = await sftp(site, ["pwd"], { password: `wrong-${attempt}` });
      expect(result.exitCode).not.toBe(0);
      expect(result.output).toContain("Permission denied");
    }
    expect((await http(site, path)).status).toBe(404);
    expect((await http(site, path, { userName: "nobody" })).status).toBe(401);
    const last = await http(site, path, { password: "wrong" });
    expect(last.status).toBeOneOf([401, 429]);

    const banned = await http(site, path);
    expect(banned.status).toBe(429);
    expect(Number(banned.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(banned.body).toContain('"reasonCode":933');
    expect((await sftp(site, ["pwd"])).exitCode).not.toBe(0);
    await site.daemon.waitForLog(({ msg }) => msg.startsWith("address banned"));
    expect((await fetch(`${site.http}/healthz`)).status).toBe(200);
  });

  test("is lifted for an address that a reload puts on the allow list", async () => {
    await reload({ wrongPasswordDelayMs: 200, bans: { ...bans, allow: ["127.0.0.1"] } });
    expect((await http(site, path)).status).toBe(404);
    expect((await sftp(site, ["pwd"])).exitCode).toBe(0);
    for (let attempt = 0; attempt < 8; attempt += 1) await http(site, path, { userName: "nobody" });
    expect((await http(site, path)).status).toBe(404);
  });
});

describe("a wrong password", () => {
  test("is answered late, with the same words for a user that does not exist", async () => {
    const began = performance.now();
    const wrong = await http(site, path, { password: "wrong" });
    expect(performance.now() - began).toBeGreaterThan(190);
    const unknown = await http(site, path, { userName: "nobody" });
    expect([wrong.status, wrong.body]).toEqual([unknown.status, unknown.body]);
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic/);
  });
});

describe("a change of a user", () => {
  test("takes effect at once: disabled, enabled, another password", async () => {
    expect((await http(site, path)).status).toBe(404);
    await site.mustRun("user", "disable", "host");
    expect((await http(site, path)).status).toBeOneOf([401, 403]);
    expect((await sftp(site, ["pwd"])).exitCode).not.toBe(0);
    await site.mustRun("user", "enable", "host");
    expect((await sftp(site, ["pwd"])).exitCode).toBe(0);
    const made = await site.mustRun("user", "set-password", "host");
    expect((await http(site, path)).status).toBe(401);
    const password = made.match(/\S{10,}/g)?.find((word) => !word.includes("password")) ?? "";
    expect((await http(site, path, { password })).status, made).toBe(404);
    await site.mustRun("user", "set-password", "host", "--password-file", site.passwordFile);
    expect((await http(site, path)).status).toBe(404);
  });

  describe("ends the open connections that stand on what was changed:", () => {
    async function connected(
      signIn: ssh2.ConnectConfig,
    ): Promise<{ ready: Promise<unknown>; gone: Promise<unknown> }> {
      const client = new ssh2.Client();
      client.on("error", () => undefined);
      const [ready, gone] = [once(client, "ready"), once(client, "close")];
      client.connect({ host: "127.0.0.1", port: site.sftpPort, username: "host", ...signIn });
      await ready;
      return { ready, gone };
    }

    test("another password those of SFTP and FTP", async () => {
      const over = await connected({ password: site.password });
      const ftp = connect({ port: site.ftpPort, host: "127.0.0.1" });
      const answers: string[] = [];
      ftp.on("error", () => undefined).on("data", (chunk) => answers.push(String(chunk)));
      const isFtpGone = once(ftp, "close");
      ftp.write(`USER host\r\nPASS ${site.password}\r\n`);
      await waitFor("the sign-in", () => answers.join("").includes("230 "));
      await site.mustRun("user", "set-password", "host");
      await Promise.all([over.gone, isFtpGone]);
      expect(answers.join("")).toContain("421 The user was changed");
      await site.mustRun("user", "set-password", "host", "--password-file", site.passwordFile);
      const ended = site.daemon.log.filter(({ msg }) =>
        msg.endsWith("connection ended: the user was changed"),
      );
      expect(ended.map(({ reason }) => reason)).toEqual([
        "the password was changed",
        "the password was changed",
      ]);
    });

    test("a key that was removed those that it has opened", async () => {
      const over = await connected({ privateKey: await readFile(site.keyFile) });
      const listed = await site.mustRun("user", "keys", "host");
      const fingerprint = /SHA256:\S+/.exec(listed)?.[0] ?? "";
      await site.mustRun("user", "remove-key", "host", fingerprint);
      await over.gone;
      await site.mustRun("user", "add-key", "host", "--key", `${site.keyFile}.pub`);
    });
  });

  test("a user without the role for SFTP is let in nowhere", async () => {
    await site.addUser("viewer", ["DI_Inquiry"]);
    const result = await sftp(site, ["pwd"], { userName: "viewer", password: site.password });
    expect(result.exitCode).not.toBe(0);
  });
});

describe("a user of the same name in another company", () => {
  let other: Site;
  const own = "/v5/stop/info/NONE/OTHER";

  beforeAll(async () => {
    other = await Site.make({
      security: { wrongPasswordDelayMs: 200, bans: { ...bans, maxScore: 6 } },
    });
    await other.mustRun("company", "add", "OTHER");
    await other.addUser("boss", ["MemberAdmin"], "OTHER");
    await other.start();
  });
  afterAll(() => other.end());

  function importUsers(...users: unknown[]) {
    const body = JSON.stringify({ companyCode: "OTHER", users });
    return http(other, "/v5/user/update/OTHER", { userName: "boss", body, type: "application/json" });
  }

  async function setPassword(password: string): Promise<void> {
    const userRoles = [{ role: "DI_Integration" }];
    expect((await importUsers({ userName: "host", password, userRoles })).status).toBe(200);
  }

  test("is made by an import with at most 500 passwords", async () => {
    const users = Array.from({ length: 501 }, (_, index) => ({
      userName: `u${index}`,
      password: "too many",
    }));
    const reply = await importUsers(...users);
    expect([reply.status, reply.body]).toEqual([413, expect.stringContaining('"reasonCode":909')]);
  });

  test("helps nobody to guess the password of the older one, neither over HTTP nor over SFTP", async () => {
    const wrong = await http(other, path, { password: "wrong" });
    for (const password of ["first guess", "second guess"]) {
      await setPassword(password);
      const began = performance.now();
      const reply = await http(other, path, { password });
      expect([reply.status, reply.body]).toEqual([401, wrong.body]);
      expect(performance.now() - began).toBeGreaterThan(190);
      expect((await http(other, own, { password })).status).toBe(404);
    }
    const elsewhere = await http(other, "/v5/stop/info/NONE/NEVER", { password: "second guess" });
    expect([elsewhere.status, elsewhere.body]).toEqual([401, wrong.body]);
    // Right sign-ins count once, however many there are; those to the older user never.
    for (let index = 0; index < 3; index += 1) {
      expect((await sftp(other, ["pwd"], { password: "second guess" })).exitCode).toBe(0);
      expect((await sftp(other, ["pwd"])).exitCode).toBe(0);
    }
    expect((await http(other, path)).status).toBe(404);
    await setPassword("fourth guess");
    expect((await sftp(other, ["pwd"], { password: "fourth guess" })).exitCode).not.toBe(0);
    expect((await http(other, path)).status).toBe(429);
  });
});
