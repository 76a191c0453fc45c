/**
 * Who sees and does what in the console: each page for each role in a browser; everything that another company has, asked
 * for over each route. Both tables come from the routes themselves.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleRoutes } from "../../../src/endpoints/http/console/routes.ts";
import type { ConsoleRoute } from "../../../src/endpoints/http/console/console-route.ts";
import { rolesFor } from "../../../src/endpoints/http/console/console-user.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../../support/browser.ts";
import { type ConsoleUserName, consoleUsers, signInToConsole } from "../../support/console.ts";
import { addressIn, openAs, subjectsOf } from "../../support/console-browser.ts";
import { ConsoleStory } from "../../support/console-story.ts";
import { company } from "../../support/daemon.ts";
import { outlineFaults } from "../../support/page-checks.ts";

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;

beforeAll(async () => {
  story = await ConsoleStory.open();
  subjects = await subjectsOf(story);
});
afterAll(() => story.end());

const users = (Object.keys(consoleUsers) as ConsoleUserName[]).filter((name) => name !== "stranger");
const gets = consoleRoutes.filter(({ method }) => method === "GET");
const isStream = ({ path }: ConsoleRoute) => /\/(?:live|events)\b/.test(path);
const isPage = (route: ConsoleRoute) => !isStream(route) && !/csv|download/.test(route.path);

/** By the rules for roles (specification/console.md#access). */
function mayHave(name: ConsoleUserName, { who }: ConsoleRoute): boolean {
  if (who === "signedIn") return true;
  if (who === "operator") return name === "operator";
  return consoleUsers[name].roles.some((role) => rolesFor[who].includes(role));
}

describe.skipIf(!hasBrowser).each(users)("%s", (userName) => {
  const browser = useBrowser();

  test("sees the pages of the role, is refused the others, and finds only the former in the navigation", async () => {
    const page = await openAs(browser, story, { userName, allowed: [/^status of 403/] });
    for (const route of gets.filter(isPage)) {
      const address = addressIn(subjects, route.path);
      const answer = await visit(page, address);
      expect([address, answer.status()]).toEqual([address, mayHave(userName, route) ? 200 : 403]);
      expect(await outlineFaults(page), address).toEqual([]);
    }
    const links = page.locator("nav.pages a");
    for (const href of await links.evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""))) {
      expect((await visit(page, href)).status(), href).toBe(200);
    }
  });

  test("is told what a refused page needs, where there is one", async () => {
    const refused = gets.filter(isPage).find((route) => !mayHave(userName, route));
    if (refused === undefined) return;
    const page = await openAs(browser, story, { userName, allowed: [/^status of 403/] });
    await visit(page, addressIn(subjects, refused.path));
    expect(await page.locator("main").innerText()).toMatch(/role|operators/);
    await takePicture(page, `refused-${userName}`);
  });
});

describe("the administrator of another company", () => {
  const withSubject = consoleRoutes.filter(({ path }) => path.includes("{"));
  /** What no page of the other company may show. */
  const secrets = /ACME|4711|4712|L-100|SPEEDY|only-|olga|127\.0\.0\.77/;

  /** What stands in a page whatever it shows: the number of the request, and what was asked for. */
  const plain = (body: string, address: string) =>
    body.replaceAll(address, "").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "");

  test.each(withSubject.map((route) => [route.method, route.path, route] as const))(
    "%s %s is answered as for what does not exist",
    async (method, path) => {
      const stranger = await signInToConsole(story.site, "stranger");
      const nothing = Object.fromEntries(Object.keys(subjects).map((name) => [name, "none"]));
      const addresses = [addressIn(subjects, path), addressIn({ ...subjects, ...nothing }, path)];
      const form = { reason: "curious", seenAt: String(Date.now()) };
      const replies = [];
      for (const address of addresses)
        replies.push(method === "GET" ? await stranger.get(address) : await stranger.post(address, form));
      const [foreign, none] = replies;
      expect([403, 404]).toContain(foreign?.status);
      expect(foreign?.status).toBe(none?.status);
      const texts = replies.map(({ body }, index) => plain(body, addresses[index] ?? ""));
      expect(texts[0]).toBe(texts[1]);
    },
  );

  test.each(gets.filter((route) => !route.path.includes("{") && !isStream(route)).map(({ path }) => [path]))(
    "%s shows nothing of the company, whatever company is asked for",
    async (path) => {
      const stranger = await signInToConsole(story.site, "stranger");
      for (const query of ["", `?company=${company}`, "?company=1", `?companyId=1&q=4711`, "?q=L-100"]) {
        const { status, body } = await stranger.get(`${path}${query}`);
        expect([200, 303, 400, 403, 404]).toContain(status);
        const shown = body.replaceAll(/value="[^"]*"|[?&;](?:company|q)=[^"&]*/g, "");
        expect(secrets.exec(shown)?.[0], `${path}${query}`).toBeUndefined();
      }
    },
  );
});

describe("acts", () => {
  const acts = consoleRoutes.filter(({ method }) => method === "POST");

  test("are refused to who may only look, and nothing is changed", async () => {
    const before = await story.site.json<unknown>("files");
    const viewer = await signInToConsole(story.site, "inquiry");
    for (const { path } of acts.filter(({ who }) => who === "act" || who === "operator")) {
      const form = { reason: "why not", of: subjects["reference"] ?? "", seenAt: String(Date.now()) };
      const reply = await viewer.post(addressIn(subjects, path), form);
      expect([path, reply.status]).toEqual([path, 403]);
    }
    expect(await story.site.json<unknown>("files")).toEqual(before);
  });

  test("of a form without the session's token, or from another site, are refused", async () => {
    const admin = await signInToConsole(story.site, "operator");
    for (const { path } of acts) {
      const address = addressIn(subjects, path);
      expect([path, (await admin.post(address, { formToken: "x", reason: "y" })).status]).toEqual([
        path,
        403,
      ]);
      const foreign = await admin.post(address, { reason: "y" }, { origin: "http://evil.example" });
      expect([path, foreign.status]).toEqual([path, 403]);
    }
  });
});
