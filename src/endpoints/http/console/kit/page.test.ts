import { describe, expect, it } from "vitest";
import { consoleRequest, consoleUser } from "../testing/viewer.ts";
import { live } from "../assets/assets.ts";
import { html } from "./html.ts";
import { firstPathOf } from "./navigation.ts";
import { type Page, page, plainPage } from "./page.ts";

const services = { basePath: () => "/rest" };
const shown: Page = { title: "Files", here: "files", content: html`<p>content</p>` };
const textOf = (given: Partial<Page> = {}, request = consoleRequest()) =>
  String(page(services, request, { ...shown, ...given }).body);
const pagesIn = (text: string) => [...text.matchAll(/data-page="(\w+)"/g)].map(([, name]) => name);

describe("the frame of a page", () => {
  it("has its landmarks, one heading of the first order, and a way past the navigation", () => {
    const text = textOf();
    expect(text.match(/<h1>/g)).toHaveLength(1);
    expect(text.match(/<main id="main" tabindex="-1">/g)).toHaveLength(1);
    expect(text).toMatch(/<body>\s*<a class="skip" href="#main">/);
    expect(text).toContain('<html lang="en">');
    expect(text).toContain("<title>Files · dropgate</title>");
    const labels = [...text.matchAll(/<nav [^>]*aria-label="([^"]+)"/g)].map(([, label]) => label);
    expect(new Set(labels).size).toBe(labels.length);
  });

  it("has nothing inline, and nothing from elsewhere", () => {
    const text = textOf({ scripts: live });
    expect(text).not.toMatch(/<style|<script(?![^>]* src=")| style=| on\w+=|javascript:/);
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const config = /name="htmx-config" content="([^"]*)"/.exec(text)?.[1]?.replaceAll("&quot;", '"') ?? "";
    expect(JSON.parse(config)).toMatchObject({
      ...{ allowEval: false, allowScriptTags: false, includeIndicatorStyles: false, selfRequestsOnly: true },
      historyCacheSize: 0,
    });
  });

  it("loads what the page asks for beside what all have, below the base path", () => {
    expect([...textOf().matchAll(/<script/g)]).toHaveLength(2);
    const paths = [...textOf({ scripts: live }).matchAll(/<script[^>]* src="([^"]+)"/g)].map(
      ([, path]) => path,
    );
    expect(paths.map((path) => path?.replace(/[0-9a-f]{16}/, "…"))).toEqual([
      "/rest/console/assets/…/theme.js",
      "/rest/console/assets/…/htmx.min.js",
      "/rest/console/assets/…/idiomorph-ext.min.js",
      "/rest/console/assets/…/console.js",
    ]);
  });

  it("has the company, the user, and a form that ends the session with the token", () => {
    const text = textOf();
    expect(text).toContain('<bdi class="foreign">anna</bdi>');
    expect(text).toContain('<span class="company" title="ACME">ACME</span>');
    expect(text).toMatch(
      /action="\/rest\/console\/sign-out"><input type="hidden" name="formToken" value="token-1">/,
    );
    const both = [7, 8].map((id) => ({ id, code: `C${id}`, roles: ["MemberAdmin"] as const }));
    expect(textOf({}, consoleRequest({ user: consoleUser({ companies: both }) }))).toContain(
      'title="C7, C8">2 companies</span>',
    );
  });

  it("shows a title of others as it is, and no longer than a heading", () => {
    const text = textOf({ title: `<script>${"x".repeat(3_000)}\u202e` });
    expect(text).not.toContain("<script>");
    expect(/<h1>(.*?)<\/h1>/.exec(text)?.[1]?.replace(/ title="[^"]*"/, "").length).toBeLessThan(300);
  });

  it("goes without its frame to who asks for a part", () => {
    const answer = page(services, consoleRequest({ isPart: true }), shown);
    expect(answer).toEqual({ status: 200, contentType: "text/html; charset=utf-8", body: "<p>content</p>" });
  });

  it("leads back to the page of the navigation once, also from an act that began there", () => {
    const back = { text: "Files", href: "/rest/console/files" };
    expect(textOf({ trail: [back] })).toBe(textOf({ trail: [] }));
  });

  it("shows the way to a page that is not in the navigation", () => {
    const trail = [{ text: "<b>", href: "/rest/console/stops/ACME/1" }];
    expect(textOf({ trail })).toContain(
      '<ol><li><a href="/rest/console/files"><bdi class="foreign">Files</bdi></a></li><li><a href="/rest/console/stops/ACME/1"><bdi class="foreign">&lt;b&gt;</bdi></a></li></ol>',
    );
  });

  it.each([
    ["signedOut", true],
    ["toString", false],
    ["__proto__", false],
    ["<b>anything</b>", false],
  ])("tells what was done for the key %s: %s", (key, isTold) => {
    const text = textOf({}, consoleRequest({ query: new URLSearchParams({ done: key }) }));
    expect(/<div id="notices">(.*?)<\/div>/s.exec(text)?.[1] !== "").toBe(isTold);
    expect(text).not.toContain("anything");
  });
});

describe("the navigation", () => {
  const of = (user: Partial<ReturnType<typeof consoleUser>>) => consoleRequest({ user: consoleUser(user) });
  const look = ["today", "find", "files", "deliveries", "remotes"];
  const withRole = (role: "MemberAdmin" | "DI_Inquiry" | "DI_Integration" | "DI_Driver") => ({
    companies: [{ id: 7, code: "ACME", roles: [role] }],
  });

  it.each([
    [withRole("MemberAdmin"), [...look, "users", "hosts", "audit"], ""],
    [withRole("DI_Inquiry"), look, ""],
    [withRole("DI_Integration"), ["hosts"], "/hosts"],
    [withRole("DI_Driver"), [], "/password"],
    [{ ...withRole("DI_Inquiry"), isOperator: true }, [...look, "health", "users", "audit"], ""],
  ])("has what the user may see", (user, pages, first) => {
    expect(pagesIn(textOf({}, of(user)))).toEqual(pages);
    expect(firstPathOf(consoleUser(user))).toBe(first);
  });

  it("marks where one is, and offers the find box only to who may look", () => {
    expect(textOf().match(/aria-current="page" data-page="files"/g)).toHaveLength(1);
    expect(textOf()).toContain('id="find-box"');
    expect(textOf({ here: "hosts" }, of(withRole("DI_Integration")))).not.toContain('id="find-box"');
  });
});

it("the page of who is not signed in has no navigation and no form that needs a session", () => {
  const { body, status } = plainPage("", { title: "Sign in", content: "", status: 401 });
  expect(status).toBe(401);
  expect(body).not.toMatch(/<nav|formToken/);
});
