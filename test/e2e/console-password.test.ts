/** The own password in the console, and the one that has to be changed before anything else. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  ConsoleBrowser,
  type ConsoleUserName,
  consoleBase,
  makeConsoleSite,
  signInToConsole,
} from "../support/console.ts";
import { http } from "../support/clients.ts";
import { lenient, type Site } from "../support/daemon.ts";

let site: Site;

beforeAll(async () => {
  site = await makeConsoleSite({ security: lenient });
  await site.start();
});

afterAll(() => site.end());

const quiteAnother = "quite another password";
const change = (current: string, next = quiteAnother, repeated = next) => ({ current, next, repeated });

async function canSignIn(userName: ConsoleUserName, password: string): Promise<boolean> {
  return (await new ConsoleBrowser(consoleBase(site)).signIn(userName, password)).status === 303;
}

test("a change of the own password gives this browser another session and ends all others", async () => {
  const [one, two] = [await signInToConsole(site, "inquiry"), await signInToConsole(site, "inquiry")];
  const before = one.cookie;
  const reply = await one.post("/console/password", change(site.password));
  expect([reply.status, reply.headers.get("location")]).toEqual([303, "/console?done=passwordChanged"]);
  expect(one.cookie).not.toBe(before);
  expect((await one.get("/console/password")).status).toBe(200);
  expect((await two.get("/console/password")).status).toBe(303);
  two.cookie = before;
  expect((await two.get("/console/password")).status).toBe(303);
  expect(await canSignIn("inquiry", site.password)).toBe(false);
  expect(await canSignIn("inquiry", quiteAnother)).toBe(true);
});

test.each([
  ["a wrong current one", () => change("wrong")],
  ["two that differ", () => change(site.password, quiteAnother, "and another one")],
  ["one that is too short", () => change(site.password, "short")],
  ["the same again", () => change(site.password, site.password)],
])("%s changes nothing, and the page says why at the field", async (_what, fields) => {
  const browser = await signInToConsole(site, "dispatcher");
  const reply = await browser.post("/console/password", fields());
  expect(reply.status).toBe(422);
  expect(reply.body).toContain('aria-invalid="true"');
  expect(reply.body).not.toContain(site.password);
  expect(await canSignIn("dispatcher", site.password)).toBe(true);
});

test("who has to change the password first gets this page alone, and then all others", async () => {
  const user = { userName: "driver", forcePwdChg: true, userRoles: [{ role: "DI_Dispatcher" }] };
  const imported = await http(site, "/v5/user/update/ACME", {
    ...{ userName: "admin", type: "application/json" },
    body: JSON.stringify({ companyCode: "ACME", users: [user] }),
  });
  expect(imported.status, imported.body).toBe(200);
  const browser = new ConsoleBrowser(consoleBase(site));
  expect((await browser.signIn("driver", site.password, "/console/files")).status).toBe(303);
  const files = await browser.get("/console/files");
  expect([files.status, files.headers.get("location")]).toEqual([303, "/console/password"]);
  const part = await browser.get("/console/files", { "hx-request": "true" });
  expect(part.headers.get("hx-redirect")).toBe("/console/password");
  const page = await browser.get("/console/password");
  expect(page.body).toContain("has to be changed before you go on");
  expect(page.body).not.toContain("/console/files");
  await browser.post("/console/password", change(site.password));
  expect((await browser.get("/console/files")).status).toBe(200);
});
