/** Where the console is served: over TLS, behind a proxy, below a base path, on a port of its own, or not at all. */
import { afterEach, expect, test } from "vitest";
import { makeAuthority } from "../support/certificates.ts";
import { ConsoleBrowser, consoleBase, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { lenient, type Settings, type Site } from "../support/daemon.ts";
import { ask } from "../support/http-fixture.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let site: Site;

afterEach(() => site.end());

async function start(settings: Settings): Promise<Site> {
  site = await makeConsoleSite({ security: lenient, ...settings });
  await site.start();
  return site;
}

test("over TLS the cookie is Secure and of this host alone, and no other is taken", async () => {
  const authority = await makeAuthority(temporaryFolder());
  const { certificateFile: certFile, keyFile } = await authority.issue("127.0.0.1");
  await start({ http: { tls: { certFile, keyFile } } });
  const base = new URL(consoleBase(site));
  expect(base.protocol).toBe("https:");
  const secure = { isTls: true, ca: authority.ca };
  const form = new URLSearchParams({ userName: "admin", password: site.password }).toString();
  const reply = await ask(Number(base.port), "POST", "/console/sign-in", {
    ...secure,
    ...{ content: form, type: "application/x-www-form-urlencoded" },
    headers: { origin: base.origin },
  });
  expect(reply.status).toBe(303);
  const [cookie = ""] = reply.headers["set-cookie"] ?? [];
  expect(cookie).toMatch(
    /^__Host-dropgate=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  );
  const pair = cookie.split(";")[0] ?? "";
  const get = (sent: string) =>
    ask(Number(base.port), "GET", "/console/password", { ...secure, headers: { cookie: sent } });
  expect((await get(pair)).status).toBe(200);
  expect((await get(pair.replace("__Host-dropgate", "dropgate-plain"))).status).toBe(303);
});

test("behind a proxy that ends TLS the cookie is Secure, as the browser's page is on TLS", async () => {
  await start({ http: { trustedProxies: ["127.0.0.0/8"] } });
  const browser = new ConsoleBrowser(consoleBase(site));
  const { host } = new URL(consoleBase(site));
  const reply = await browser.post(
    "/console/sign-in",
    { userName: "admin", password: site.password },
    { origin: `https://${host}`, "x-forwarded-for": "192.0.2.7" },
  );
  expect(reply.headers.get("set-cookie")).toMatch(/^__Host-dropgate=.*; Secure$/);
  expect((await browser.get("/console/password")).status).toBe(200);
});

test("below a base path every address of it begins there", async () => {
  await start({ http: { basePath: "/rest" } });
  expect(consoleBase(site)).toMatch(/\/rest$/);
  const stranger = new ConsoleBrowser(consoleBase(site));
  const asked = await stranger.get("/console/password");
  expect(asked.headers.get("location")).toBe("/rest/console/sign-in?next=%2Fconsole%2Fpassword");
  const signedIn = await stranger.signIn("admin", site.password, "/console/password");
  expect(signedIn.headers.get("location")).toBe("/rest/console/password");
  const { body } = await stranger.get("/console/password");
  const addresses = [...body.matchAll(/(?:href|src|action)="([^"#]+)"/g)].map(([, address = ""]) => address);
  expect(addresses.filter((address) => !address.startsWith("/rest/"))).toEqual([]);
});

test("on a port of its own there is the console alone, and none on that of the interface", async () => {
  await start({ console: { port: 0 } });
  const admin = await signInToConsole(site, "admin");
  expect(consoleBase(site)).not.toBe(site.http);
  const page = await admin.get("/console/password");
  expect(page.status).toBe(200);
  const style = /href="(\/console\/assets\/[^"]+\.css)"/.exec(page.body)?.[1] ?? "";
  expect((await admin.get(style)).status).toBe(200);
  expect((await admin.get("/v5/stop/info/1/ACME")).status).toBe(404);
  expect((await admin.get("/docs")).status).toBe(404);
  expect((await admin.get("/healthz")).status).toBe(404);
  expect((await fetch(`${site.http}/console/sign-in`)).status).toBe(404);
  expect((await fetch(`${site.http}/healthz`)).status).toBe(200);
  const metrics = await (await fetch(`${site.http}/metrics`)).text();
  expect(metrics).toMatch(/^dropgate_connections\{endpoint="console"\} [1-9]/m);
  expect(metrics).toMatch(/^dropgate_connections\{endpoint="http"\} [1-9]/m);
  expect(metrics).not.toMatch(/^dropgate_(?:transferred_bytes|sign_ins)_total\{endpoint="console"/m);
});

test("switched off there is none", async () => {
  await start({ console: { enabled: false } });
  expect(site.daemon.log.find(({ msg }) => msg === "ready")).not.toHaveProperty("console");
  const reply = await fetch(`${site.http}/console/sign-in`);
  expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "application/json"]);
});
