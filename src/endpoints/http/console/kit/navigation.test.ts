import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Role } from "../../../../domain/users/role.ts";
import { consoleRoutes } from "../routes.ts";
import { consoleUser } from "../testing/viewer.ts";
import { keyHelp } from "./key-help.ts";
import { addresses } from "./link.ts";
import { firstPathOf, mayUse, navigation } from "./navigation.ts";

const to = addresses({ basePath: () => "" });

function viewer(roles: readonly Role[], isOperator = false) {
  const companies = roles.length === 0 ? [] : [{ id: 7, code: "ACME", roles }];
  return consoleUser({ companies, isOperator });
}

/** Each has the accesses that no other one of them has. */
const viewers = {
  looker: viewer(["DI_Inquiry"]),
  integrator: viewer(["DI_Integration"]),
  administrator: viewer(["MemberAdmin"]),
  operator: viewer([], true),
  driver: viewer(["DI_Driver"]),
};

const linksOf = (user: ReturnType<typeof viewer>) =>
  [...navigation(user, undefined, to).text.matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path);

const all = linksOf(viewer(["MemberAdmin"], true));

test("each page of the navigation is a page of the console", () => {
  const pages = consoleRoutes.filter(({ method }) => method === "GET").map(({ path }) => path);
  expect(all).toHaveLength(9);
  expect(pages).toEqual(expect.arrayContaining(all));
});

test("each page of the navigation has a key, which the list of keys tells; the box of Find has one of its own", () => {
  const script = readFileSync(new URL("../../../../../web/console.js", import.meta.url), "utf8");
  const [, table = ""] = /const pages = \{(.*?)\};/s.exec(script) ?? [];
  const keys = [...table.matchAll(/(\w): "(\w+)"/g)].map(([, key = "", page = ""]) => [key, page] as const);
  const text = navigation(viewer(["MemberAdmin"], true), undefined, to).text;
  const pages = [...text.matchAll(/data-page="(\w+)"/g)].map(([, page = ""]) => page);
  expect(keys.map(([, page]) => page).toSorted()).toEqual(pages.filter((page) => page !== "find").toSorted());
  const told = [...keyHelp().text.matchAll(/<kbd>g<\/kbd> <kbd>(\w)<\/kbd>/g)].map(([, key = ""]) => key);
  expect(told.toSorted()).toEqual(keys.map(([key]) => key).toSorted());
});

test.each(Object.entries(viewers))(
  "the navigation of the %s has the pages that they may see, and no other",
  (_who, user) => {
    const isInIt = (path: string) => all.includes(path);
    const seen = consoleRoutes.filter(
      ({ method, path, who }) => method === "GET" && isInIt(path) && mayUse(user, who),
    );
    expect(linksOf(user).toSorted()).toEqual(seen.map(({ path }) => path).toSorted());
  },
);

test("operators administer users, and read the audit, without a role in any company", () => {
  const [users, audit] = [to.at("/users"), to.at("/audit")];
  expect(linksOf(viewers.operator)).toEqual([to.at("/health"), users, audit]);
  const posted = consoleRoutes.filter(({ method, path }) => method === "POST" && path.startsWith(users));
  expect(posted.length).toBeGreaterThan(5);
  expect(posted.filter(({ who }) => !mayUse(viewers.operator, who))).toEqual([]);
  expect(posted.filter(({ who }) => mayUse(viewers.looker, who))).toEqual([]);
});

test.each(Object.entries(viewers))("the first page of the %s is one that they may see", (_who, user) => {
  const first = `/console${firstPathOf(user)}`;
  const route = consoleRoutes.find(({ method, path }) => method === "GET" && path === first);
  // Everybody has the page of the own password.
  expect(first === "/console/password" || (route !== undefined && mayUse(user, route.who))).toBe(true);
});
