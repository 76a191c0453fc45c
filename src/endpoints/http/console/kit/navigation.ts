/** The pages in the navigation, and who sees which. */
import { words } from "../words/words.ts";
import { type ConsoleAccess, type ConsoleUser, companiesFor } from "../console-user.ts";
import { type Html, html } from "./html.ts";
import type { Addresses } from "./link.ts";

const pages = [
  { key: "today", path: "", who: "look" },
  { key: "find", path: "/find", who: "look" },
  { key: "files", path: "/files", who: "look" },
  { key: "deliveries", path: "/deliveries", who: "look" },
  { key: "remotes", path: "/remotes", who: "look" },
  { key: "health", path: "/health", who: "operator" },
  { key: "users", path: "/users", who: "administer" },
  { key: "hosts", path: "/hosts", who: "integrate" },
  { key: "audit", path: "/audit", who: "administer" },
] as const satisfies readonly { key: string; path: string; who: ConsoleAccess }[];

/** A page of the navigation; those of one file, stop or load belong to the list that leads to them. */
export type PageKey = (typeof pages)[number]["key"];

/** Whether the user has this access, in a company at least. */
export function mayUse(user: ConsoleUser, who: ConsoleAccess): boolean {
  if (who === "signedIn") return true;
  if (who === "operator") return user.isOperator;
  if (who === "administer") return user.isOperator || mayUse(user, "act");
  return companiesFor(user, who).length > 0;
}

/** The path of the page below `/console`. */
export function pathOfPage(key: PageKey): string {
  return pages.find((page) => page.key === key)?.path ?? "";
}

/** The first page that the user may see, as a path below `/console`: where a sign-in leads. */
export function firstPathOf(user: ConsoleUser): string {
  return pages.find(({ who }) => mayUse(user, who))?.path ?? "/password";
}

/** The list of pages, with the one that is shown marked. */
export function navigation(user: ConsoleUser, here: PageKey | undefined, to: Addresses): Html {
  const seen = pages.filter(({ who }) => mayUse(user, who));
  return html`<nav class="pages" aria-label="${words.frame.pages}"><ul>${seen.map(
    ({ key, path }) =>
      html`<li><a href="${to.at(path)}"${key === here ? html` aria-current="page"` : ""} data-page="${key}">${words.frame.names[key]}</a></li>`,
  )}</ul></nav>`;
}
