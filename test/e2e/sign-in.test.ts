/** Failed sign-ins are counted over SFTP and HTTP together; changes of a user take effect at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http, sftp } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";

const path = `/v5/stop/info/NONE/${company}`;
const bans = { maxScore: 6, banMs: 60_000, windowMs: 600_000 };

let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: { wrongPasswordDelayMs: 200, bans } });
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
    // 3 points over SFTP, then 2 for an unknown user and 1 for a wrong password over HTTP.
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
    other = await Site.make({ security: { wrongPasswordDelayMs: 200, bans } });
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
    // Right sign-ins count once, however many there are; those to the older user never.
    for (let index = 0; index < 3; index += 1) {
      expect((await sftp(other, ["pwd"], { password: "second guess" })).exitCode).toBe(0);
      expect((await sftp(other, ["pwd"])).exitCode).toBe(0);
    }
    await setPassword("third guess");
    expect((await sftp(other, ["pwd"], { password: "third guess" })).exitCode).toBe(0);
    expect((await http(other, path)).status).toBe(404);
    await setPassword("fourth guess");
    expect((await sftp(other, ["pwd"], { password: "fourth guess" })).exitCode).not.toBe(0);
    expect((await http(other, path)).status).toBe(429);
  });
});
