/** Who may have which page of the console, and which requests may act: over every route of the table. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleAccess, rolesFor } from "../../src/endpoints/http/console/console-user.ts";
import { consoleRoutes } from "../../src/endpoints/http/console/routes.ts";
import { sessionRoutes } from "../../src/endpoints/http/console/session/own-session.ts";
import {
  ConsoleBrowser,
  type ConsoleUserName,
  consoleBase,
  consoleUsers,
  makeConsoleSite,
  signInToConsole,
} from "../support/console.ts";
import { lenient, type Site } from "../support/daemon.ts";

const routes = [...sessionRoutes, ...consoleRoutes];
/** What signs out would end the session of the other cases. */
const acting = routes.filter(({ method, path }) => method === "POST" && !path.includes("sign-out"));
const shown = routes.filter(({ method }) => method === "GET");
/** Something that is there for nobody. */
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, "NONE");
const names = Object.keys(consoleUsers) as ConsoleUserName[];

let site: Site;
const browsers = new Map<ConsoleUserName, ConsoleBrowser>();

beforeAll(async () => {
  // A stop that waited for who listens would be over after the test.
  site = await makeConsoleSite({ security: lenient, shutdown: { drainMs: 600_000 } });
  await site.start();
  for (const name of names) browsers.set(name, await signInToConsole(site, name));
}, 60_000);

afterAll(() => site.end());

function browserOf(name: ConsoleUserName): ConsoleBrowser {
  const browser = browsers.get(name);
  if (browser === undefined) throw new Error(`${name} is not signed in`);
  return browser;
}

/** As the specification has it, not as the guard computes it. */
function mayHave(name: ConsoleUserName, who: ConsoleAccess): boolean {
  if (who === "signedIn") return true;
  if (who === "operator") return name === "operator";
  if (who === "administer") return name === "operator" || mayHave(name, "act");
  return consoleUsers[name].roles.some((role) => rolesFor[who].some((needed) => needed === role));
}

test("each route has a name and a path of its own", () => {
  expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
  expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
});

describe.each(names)("%s", (name) => {
  test.each(shown.map(({ path, who }) => [path, who] as const))("asks for %s (%s)", async (path, who) => {
    const { status, body } = await browserOf(name).get(pathOf(path), { accept: "text/html" });
    if (mayHave(name, who)) expect([200, 204, 400, 404], `${status}: ${body}`).toContain(status);
    // The first page leads on to the first that is theirs.
    else expect(status).toBe(path === "/console" ? 303 : 403);
  });

  test.each(acting.map(({ path, who }) => [path, who] as const))("acts by %s (%s)", async (path, who) => {
    const { status } = await browserOf(name).post(pathOf(path), {});
    if (mayHave(name, who)) expect([200, 303, 400, 403, 404, 409, 422]).toContain(status);
    else expect(status).toBe(403);
  });
});

test.each(routes.map(({ method, path }) => [method, path] as const))(
  "%s %s without a session leads to the sign-in",
  async (method, path) => {
    const stranger = new ConsoleBrowser(consoleBase(site));
    const reply =
      method === "GET"
        ? await stranger.get(pathOf(path))
        : await stranger.post(pathOf(path), { formToken: "x" });
    expect(reply.status).toBe(303);
    expect(reply.headers.get("location")).toMatch(/^\/console\/sign-in\?next=%2Fconsole/);
  },
);

const forged: Readonly<
  Record<string, (browser: ConsoleBrowser, path: string) => ReturnType<ConsoleBrowser["post"]>>
> = {
  "no token": (browser, path) => browser.post(path, [["formToken", ""]]),
  "the token of another": (browser, path) =>
    browser.post(path, { formToken: browserOf("stranger").formToken }),
  "another origin": (browser, path) => browser.post(path, {}, { origin: "https://evil.example" }),
  "an origin that is hidden": (browser, path) => browser.post(path, {}, { origin: "null" }),
  "another port of the host": (browser, path) => browser.post(path, {}, { origin: "http://127.0.0.1:1" }),
  "another site": (browser, path) => browser.post(path, {}, { "sec-fetch-site": "cross-site" }),
  "another host of the site": (browser, path) => browser.post(path, {}, { "sec-fetch-site": "same-site" }),
};

describe.each(acting.map(({ path }) => path))("POST %s", (path) => {
  test.each(Object.keys(forged))("with %s is refused before it does anything", async (what) => {
    const reply = await forged[what]?.(browserOf("operator"), pathOf(path));
    expect([reply?.status, reply?.body]).toEqual([403, expect.stringContaining("Open the page again")]);
  });
});

test.each([
  ["integration", "/console/hosts"],
  ["driver", "/console/password"],
] as const)("the first page of %s is %s", async (name, first) => {
  const reply = await browserOf(name).get("/console?done=passwordChanged");
  expect(reply.headers.get("location")).toBe(`${first}?done=passwordChanged`);
  expect((await browserOf(name).get(first)).status).toBe(200);
});

test("a form of another type, or one that is too large, is refused", async () => {
  const admin = browserOf("admin");
  const json = await admin.post("/console/password", {}, { "content-type": "application/json" });
  expect(json.status).toBe(415);
  const large = await admin.post("/console/password", { next: "x".repeat(70_000) });
  expect(large.status).toBe(413);
});

test("a page that is not there is a page as well, with the policy and the number of the request", async () => {
  const reply = await browserOf("admin").get("/console/no-such-page");
  expect(reply.status).toBe(404);
  expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(reply.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(reply.body).toContain(reply.headers.get("x-request-id"));
});

test("HEAD is GET without the page, and OPTIONS names the methods", async () => {
  const admin = browserOf("admin");
  const head = await admin.send("HEAD", "/console/password");
  expect([head.status, head.body]).toEqual([200, ""]);
  const options = await admin.send("OPTIONS", "/console/password");
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, POST, OPTIONS"]);
  const wrong = await admin.send("DELETE", "/console/password");
  expect([wrong.status, wrong.headers.get("content-type")]).toEqual([405, "text/html; charset=utf-8"]);
});

test("a script that asks for a part without a session is led to the sign-in, and back to its page", async () => {
  const stranger = new ConsoleBrowser(consoleBase(site));
  const asked = { "hx-request": "true", "hx-current-url": `${consoleBase(site)}/console/files?day=today` };
  const reply = await stranger.get("/console/password", asked);
  expect(reply.status).toBe(401);
  expect(reply.headers.get("hx-redirect")).toBe("/console/sign-in?next=%2Fconsole%2Ffiles%3Fday%3Dtoday");
  const stream = await stranger.get("/console/password", { accept: "text/event-stream" });
  expect(stream.status).toBe(204);
});

test("events end at the stop of the daemon, which does not wait for who listens", async () => {
  const { cookie } = browserOf("operator");
  const live = shown.find(({ name }) => name === "consoleLive");
  expect(live).toBeDefined();
  const reply = await fetch(`${consoleBase(site)}${live?.path}`, {
    headers: { cookie, accept: "text/event-stream" },
  });
  expect(reply.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const [text] = await Promise.all([reply.text(), site.stop()]);
  expect(text).toContain("retry:");
});
