/** Two companies in one console: what one has, asked for by the other over each route; acts of who may only look. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleRoutes } from "../../src/endpoints/http/console/routes.ts";
import type { ConsoleRoute } from "../../src/endpoints/http/console/console-route.ts";
import { type ConsoleBrowser, signInToConsole } from "../support/console.ts";
import { addressIn, subjectsOf } from "../support/console-browser.ts";
import { ConsoleStory } from "../support/console-story.ts";
import { company } from "../support/daemon.ts";

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;
let stranger: ConsoleBrowser;

beforeAll(async () => {
  story = await ConsoleStory.open();
  subjects = await subjectsOf(story);
  stranger = await signInToConsole(story.site, "stranger");
});
afterAll(() => story.end());

const gets = consoleRoutes.filter(({ method }) => method === "GET");
const isStream = ({ path }: ConsoleRoute) => /\/live$/.test(path);

describe("the administrator of another company", () => {
  const withSubject = consoleRoutes.filter(({ path }) => path.includes("{"));
  /** What no page of the other company may show; the samples for host developers have numbers of their own. */
  const secrets = /ACME|4713|472[1-3]|47\d\d_2026|L-100|Depot 7|SPEEDY|127\.0\.0\.77/;
  const queries = [
    "",
    `company=${company}`,
    "company=1",
    "companyId=1&q=4713",
    "q=L-100",
    "q=4721",
    "name=47*",
  ];

  /** What stands in a page whatever it shows: the number of the request, and what was asked for. */
  const plain = (body: string, address: string) =>
    body.replaceAll(address, "").replaceAll(/<code>[\w-]{12}<\/code>/g, "");

  test.each(withSubject.map((route) => [route.method, route.path, route] as const))(
    "%s %s is answered as for what does not exist",
    async (method, path) => {
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
      for (const query of queries) {
        const { status, body } = await stranger.get(`${path}?${query}`);
        expect([200, 303, 400, 403, 404]).toContain(status);
        // What was asked for is shown again.
        const asked = [...new URLSearchParams(query).values()].filter((text) => text.length > 1);
        const shown = asked.reduce((text, one) => text.replaceAll(one, ""), body);
        expect(secrets.exec(shown)?.[0], `${path}?${query}`).toBeUndefined();
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
