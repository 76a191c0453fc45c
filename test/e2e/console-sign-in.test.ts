/** Signing in to the console of the real program, and what a session is bound to. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleBrowser, consoleBase, makeConsoleSite, signInToConsole } from "../support/console.ts";
import type { Site } from "../support/daemon.ts";
import { runInProcess } from "../support/run-in-process.ts";

let site: Site;

beforeAll(async () => {
  site = await makeConsoleSite({ security: { wrongPasswordDelayMs: 0, bans: { allow: ["127.0.0.0/8"] } } });
  await site.start();
});

afterAll(() => site.end());

test("without a session a page leads to the sign-in and back, its policy with it", async () => {
  const browser = new ConsoleBrowser(consoleBase(site));
  const reply = await browser.get("/console/password?a=b");
  expect(reply.status).toBe(303);
  expect(reply.headers.get("location")).toBe("/console/sign-in?next=%2Fconsole%2Fpassword%3Fa%3Db");
  expect(reply.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  const page = await browser.get(reply.headers.get("location") ?? "");
  expect(page.status).toBe(200);
  expect(page.body).toContain('name="next" value="/console/password?a=b"');
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("content-encoding")).toBe("gzip");
  const wrong = await browser.signIn("admin", "wrong", "/console/password?a=b");
  expect([wrong.status, wrong.headers.get("set-cookie")]).toEqual([401, null]);
  expect(wrong.body).toContain('name="next" value="/console/password?a=b"');
  const right = await browser.signIn("admin", site.password, "/console/password?a=b");
  expect([right.status, right.headers.get("location")]).toEqual([303, "/console/password?a=b"]);
  expect(right.headers.get("set-cookie")).toMatch(
    /^dropgate-plain=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
  );
  expect((await browser.get("/console/password?a=b")).status).toBe(200);
});

test("signing out ends the session, which a kept cookie does not bring back", async () => {
  const browser = await signInToConsole(site, "admin");
  const { cookie } = browser;
  expect((await browser.post("/console/sign-out")).status).toBe(303);
  expect(browser.cookie).toBe("");
  browser.cookie = cookie;
  expect((await browser.get("/console/password")).status).toBe(303);
});

test("signing out everywhere ends the sessions of other browsers too, and of no other user", async () => {
  const [one, two, other] = [
    await signInToConsole(site, "admin"),
    await signInToConsole(site, "admin"),
    await signInToConsole(site, "dispatcher"),
  ];
  await one.post("/console/sign-out-everywhere");
  expect((await two.get("/console/password")).status).toBe(303);
  expect((await other.get("/console/password")).status).toBe(200);
});

test("a change of roles by a command ends the session within the next request", async () => {
  const browser = await signInToConsole(site, "inquiry");
  await runInProcess(site, "user", "add", "inquiry", "--company", "ACME", "--role", "DI_Dispatcher");
  const reply = await browser.get("/console/password");
  expect([reply.status, reply.headers.get("location")]).toEqual([
    303,
    "/console/sign-in?next=%2Fconsole%2Fpassword&ended=yes",
  ]);
});

test("a session survives a restart of the daemon", async () => {
  const browser = await signInToConsole(site, "dispatcher");
  await site.stop();
  await site.start();
  const again = new ConsoleBrowser(consoleBase(site));
  again.cookie = browser.cookie;
  expect((await again.get("/console/password")).status).toBe(200);
});

test("a sign-in takes no id that the browser brings along, and ends the session that it had", async () => {
  const planted = `dropgate-plain=${"a".repeat(43)}`;
  const browser = new ConsoleBrowser(consoleBase(site));
  const isOpen = async (cookie: string) => {
    const other = new ConsoleBrowser(consoleBase(site));
    other.cookie = cookie;
    return (await other.get("/console/password")).status === 200;
  };
  browser.cookie = planted;
  expect((await browser.signIn("admin", site.password)).status).toBe(303);
  const first = browser.cookie;
  expect([await isOpen(planted), await isOpen(first)]).toEqual([false, true]);
  expect((await browser.signIn("admin", site.password)).status).toBe(303);
  expect([await isOpen(first), await isOpen(browser.cookie)]).toEqual([false, true]);
});
