/**
 * Users of the console in a real browser: what each role sees and is refused, signing in, and what becomes of pages when the
 * session ends or is open twice.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../support/browser.ts";
import type { ConsoleRoute } from "../../src/endpoints/http/console/console-route.ts";
import { rolesFor } from "../../src/endpoints/http/console/console-user.ts";
import { type ConsoleUserName, consoleUsers, signInToConsole } from "../support/console.ts";
import { addressIn, differentPages, openAs, subjectsOf } from "../support/console-browser.ts";
import { ConsoleStory, files, newcomer } from "../support/console-story.ts";
import { sampled } from "../support/sampled.ts";
import { axeViolations, outlineFaults } from "../support/page-checks.ts";
import type { Page } from "playwright-core";

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (!hasBrowser) return;
  story = await ConsoleStory.open();
  subjects = await subjectsOf(story);
});
afterAll(() => story?.end());

async function signIn(page: Page, userName: string, password = story.site.password): Promise<void> {
  await page.getByLabel(words.session.userName).fill(userName);
  await page.getByLabel(words.session.password).fill(password);
  await page.getByRole("button", { name: words.session.signIn }).click();
}

/** By the rules for roles (specification/console.md#access). */
function mayHave(name: ConsoleUserName, { who }: Pick<ConsoleRoute, "who">): boolean {
  if (who === "signedIn") return true;
  if (who === "operator") return name === "operator";
  if (who === "administer") return name === "operator" || mayHave(name, { who: "act" });
  return consoleUsers[name].roles.some((role) => rolesFor[who].includes(role));
}

/** Pages that the navigation leads to: those of a company's things and of single acts are led to by their lists. */
const navigable = /^\/console(?:\/(?!exports$|late$|waiting$)[a-z]+)?$/;

const userNames = (Object.keys(consoleUsers) as ConsoleUserName[]).filter((name) => name !== "stranger");

describe.skipIf(!hasBrowser).each(userNames)("%s", (userName) => {
  const browser = useBrowser();

  test("sees the pages of the role, and is told of each other one what it needs", async () => {
    const page = await openAs(browser, story, { userName, allowed: [/^status of 403/] });
    const others = differentPages.filter(({ path }) => path !== "/console");
    const plain = await signInToConsole(story.site, userName);
    const statusFor = (route: ConsoleRoute) => (mayHave(userName, route) ? 200 : 403);
    for (const route of others) {
      const address = addressIn(subjects, route.path);
      expect([address, (await plain.get(address)).status]).toEqual([address, statusFor(route)]);
    }
    for (const route of sampled(others, 2)) {
      const address = addressIn(subjects, route.path);
      const status = (await visit(page, address)).status();
      expect([address, status]).toEqual([address, statusFor(route)]);
      expect(await outlineFaults(page), address).toEqual([]);
      if (status === 403) expect(await page.locator("main").innerText(), address).toMatch(/role|operators/);
    }
    const refused = differentPages.find((route) => !mayHave(userName, route));
    if (refused === undefined) return;
    await visit(page, addressIn(subjects, refused.path));
    await takePicture(page, `refused-${userName}`);
  });

  test("finds in the navigation what the role may see, and nothing else; the first of it is the first page", async () => {
    const page = await openAs(browser, story, { userName });
    await visit(page, "/console");
    const links = page.locator("nav.pages a");
    const offered = await links.evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
    const due = differentPages
      .filter(({ path }) => navigable.test(path))
      .filter((route) => mayHave(userName, route));
    expect(offered.toSorted()).toEqual(due.map(({ path }) => path).toSorted());
    expect(new URL(page.url()).pathname).toBe(offered[0] ?? "/console/password");
  });
});

describe.skipIf(!hasBrowser)("signing in", () => {
  const browser = useBrowser();

  test("a wrong password is told, and the right one leads to the page that was asked for", async () => {
    const page = await browser.open({ origin: story.site.http, allowed: [/^status of 401/] });
    await page.goto("/console/files");
    expect(new URL(page.url()).pathname).toBe("/console/sign-in");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([await axeViolations(page), await outlineFaults(page)]).toEqual([[], []]);
      await takePicture(page, `sign-in-${colorScheme}`);
    }
    await signIn(page, "admin", "not the password");
    await page.getByRole("alert").waitFor();
    await signIn(page, "admin");
    await page.waitForURL("**/console/files");
  });

  test("somebody whose password has to be changed changes it, and is where they wanted to be", async () => {
    const page = await browser.open({ origin: story.site.http, allowed: [/^status of 422/] });
    await page.goto("/console/sign-in");
    await signIn(page, newcomer);
    await page.waitForURL("**/console/password");
    await page.goto("/console/files");
    expect(new URL(page.url()).pathname).toBe("/console/password");
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const change = async (current: string, next: string, repeated = next) => {
      await field(words.session.currentPassword).fill(current);
      await field(words.session.newPassword).fill(next);
      await field(words.session.repeatedPassword).fill(repeated);
      await page.getByRole("button", { name: words.session.changePassword }).click();
    };
    await change(story.site.password, "seven swans a-swimming", "six geese a-laying");
    await page.getByText(words.session.differ).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await takePicture(page, "password-refused");
    await change(story.site.password, "seven swans a-swimming");
    await page.waitForURL(/\/console(\?.*)?$/);
    await visit(page, "/console/files");
    expect(new URL(page.url()).pathname).toBe("/console/files");
  });

  test("signing out ends it in this browser, and the button Back shows nothing any more", async () => {
    const page = await browser.open({ origin: story.site.http });
    await page.goto("/console/files");
    await signIn(page, "dispatcher");
    await page.waitForURL("**/console/files");
    await page.getByRole("button", { name: words.frame.signOut }).click();
    await page.getByText(words.done.signedOut).waitFor();
    await page.goBack();
    expect(await page.locator("main").innerText()).not.toContain(files.applied.name);
    expect(new URL(page.url()).pathname).toBe("/console/sign-in");
  });
});

describe.skipIf(!hasBrowser)("a session that ends in the middle", () => {
  const browser = useBrowser();

  test("leads from the next click to the sign-in, and from there back to the page", async () => {
    const page = await browser.open({ origin: story.site.http, allowed: [/^status of 401/] });
    await page.goto("/console/files?state=refused");
    await signIn(page, "inquiry");
    await page.waitForURL("**/console/files?state=refused");
    const elsewhere = await signInToConsole(story.site, "inquiry");
    await elsewhere.post("/console/sign-out-everywhere");
    await page
      .getByRole("navigation", { name: words.frame.pages })
      .getByRole("link", { name: words.frame.names.find, exact: true })
      .click();
    await page.getByText(words.session.ended).waitFor();
    await takePicture(page, "session-ended");
    await signIn(page, "inquiry");
    await page.waitForURL("**/console/find*");
  });

  test("in two tabs: signing out in one ends the other as well", async () => {
    const page = await browser.open({ origin: story.site.http, allowed: [/^status of 401/] });
    await page.goto("/console/files");
    await signIn(page, "admin");
    await page.waitForURL("**/console/files");
    const second = await browser.openBeside(page);
    await visit(second, "/console/find");
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: words.frame.signOut }).click();
    await page.getByText(words.done.signedOut).waitFor();
    await second.reload();
    expect(new URL(second.url()).pathname).toBe("/console/sign-in");
    // A browser that has kept the cookie is no better off.
    await page.context().addCookies(cookies);
    await second.goto("/console/find");
    expect(new URL(second.url()).pathname).toBe("/console/sign-in");
  });
});

describe.skipIf(!hasBrowser)("two tabs of one session", () => {
  const browser = useBrowser();

  test("look at different lists, and neither disturbs the other", async () => {
    const page = await openAs(browser, story, { userName: "admin" });
    await visit(page, "/console/files?state=refused");
    const second = await browser.openBeside(page);
    await visit(second, "/console/files?state=applied");
    await page.reload();
    expect(await page.locator("main").innerText()).toContain(files.unknownCarrier.name);
    await second.reload();
    const shown = await second.locator("main").innerText();
    expect(shown).toContain(files.applied.name);
    expect(shown).not.toContain(files.unknownCarrier.name);
  });
});
