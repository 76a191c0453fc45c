/** The most usual jobs of people in operations, click by click; each ends with what became of it in the program itself. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, useBrowser, visit } from "../support/browser.ts";
import { curl, importPartner } from "../support/clients.ts";
import { type ConsoleUserName, signInToConsole } from "../support/console.ts";
import { deliveryOf, openAs } from "../support/console-browser.ts";
import { bannedAddress, ConsoleStory, files, load } from "../support/console-story.ts";
import { company } from "../support/daemon.ts";
import { receiptFor, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const browser = useBrowser();
let story: ConsoleStory;

beforeAll(async () => {
  if (hasBrowser) story = await ConsoleStory.open();
});
afterAll(() => story?.end());

const reason = "asked for by the customer <b>&amp;</b>";

/** Opens the form of an act if it is not open, says why, and sends it. */
async function act(page: Page, label: string): Promise<void> {
  const form = page.locator("details.act", { has: page.locator("summary", { hasText: label }) }).first();
  if ((await form.getAttribute("open")) === null) await form.locator("summary").click();
  await form.getByLabel(words.kit.reason).fill(reason);
  await form.locator("form").getByRole("button", { name: label }).click();
}

const notice = (page: Page, text: string) => page.locator("#notices", { hasText: text }).waitFor();

async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

const main = (page: Page) => page.locator("main").innerText();

const stateOf = async (name: string) => {
  const entries = await story.site.json<readonly { name: string; state: string }[]>("files");
  return entries.find((entry) => entry.name === name)?.state;
};

describe.skipIf(!hasBrowser)("somebody in operations", () => {
  const open = (userName: ConsoleUserName = "admin") => openAs(browser, story, { userName });

  test("finds a file by its name, and a stop by its number, from any page with one box", async () => {
    const page = await open("inquiry");
    await visit(page, "/console");
    await find(page, files.applied.name);
    await page.waitForURL(/\/console\/files\/[0-9a-f-]{36}$/);
    await page.getByRole("heading", { level: 1, name: files.applied.name }).waitFor();
    await find(page, load.stops[1]);
    await page.waitForURL(`**/console/stops/${company}/${load.stops[1]}`);
    await page.getByRole("heading", { level: 1, name: new RegExp(load.stops[1]) }).waitFor();
    await find(page, "4711");
    await page.getByRole("link", { name: files.changed.name }).first().waitFor();
  });

  test("mends the carrier of a file that was refused, and has it tried again, with what it would change first", async () => {
    const page = await open();
    const { name } = files.unknownCarrier;
    await visit(page, "/console/files?state=refused");
    await page.getByRole("link", { name }).first().click();
    await page.getByRole("link", { name: words.file.retry }).click();
    await page.getByText(words.file.retryPage.would.refused).waitFor();
    expect((await importPartner(story.site, "SPEEDY")).status).toBe(200);
    await page.reload();
    await page.getByText(words.file.retryPage.would.applied).waitFor();
    expect(await stateOf(name)).toBe("refused");
    await act(page, words.file.retryPage.label);
    await notice(page, words.done.fileRetried);
    await waitFor("the file to be applied", async () => (await stateOf(name)) === "applied");
    // The receipt of the refusal lies there until the new one takes its place, a moment after the decision.
    await waitFor("the new receipt", async () => (await receiptFor(story.site, name)).status === 10);
    await page.reload();
    expect(await main(page)).toMatch(/Applied/);
  });

  test("learns why a file waits, and behind which", async () => {
    const page = await open("inquiry");
    await visit(page, "/console/files?state=waiting");
    await page.getByRole("link", { name: files.waiting.name }).first().click();
    await page.getByRole("heading", { level: 1, name: files.waiting.name }).waitFor();
    expect(await main(page)).toContain(`${files.half.name} of the same stop goes first`);
  });
});

describe.skipIf(!hasBrowser)("an administrator", () => {
  const open = (userName: ConsoleUserName = "admin") => openAs(browser, story, { userName });
  const openUser = async (page: Page, userName: string) => {
    await visit(page, "/console/users");
    await page.locator("main").getByRole("link", { name: userName, exact: true }).first().click();
    await page.getByRole("heading", { level: 1, name: userName }).waitFor();
  };

  test("lifts the ban of an address, which may connect at once", async () => {
    const tryFrom = async () => {
      const way = ["--interface", bannedAddress, "-o", "/dev/null", "-w", "%{http_code}"];
      return (await curl(story.site, [...way, `${story.site.http}/v5/stop/info/NONE/${company}`])).stdout;
    };
    // Bans are in memory: the address fails again since the start.
    const guess = [
      "--interface",
      bannedAddress,
      "-o",
      "/dev/null",
      `${story.site.http}/v5/stop/info/NONE/${company}`,
    ];
    for (let index = 0; index < 5; index += 1) await curl(story.site, guess, { password: `guess ${index}` });
    expect(await tryFrom()).not.toBe("404");
    const page = await open("operator");
    await visit(page, "/console/users");
    await page.locator("#bans", { hasText: bannedAddress }).waitFor();
    await act(page, words.users.bans.lift);
    await notice(page, words.done.banLifted);
    expect(await tryFrom()).toBe("404");
  });

  test("disables a user, whose session ends", async () => {
    const viewer = await signInToConsole(story.site, "dispatcher");
    expect((await viewer.get("/console/files")).status).toBe(200);
    const page = await open();
    await openUser(page, "dispatcher");
    await act(page, words.users.disable.button);
    await notice(page, words.done.userDisabled);
    expect((await viewer.get("/console/files")).status).toBe(303);
    await act(page, words.users.enable.button);
    await notice(page, words.done.userEnabled);
  });

  test("adds a key to a user", async () => {
    const key = (await readFile(`${story.site.keyFile}.pub`, "utf8")).trim();
    const page = await openAs(browser, story, { userName: "admin", allowed: [/^status of 422/] });
    await openUser(page, "integration");
    const form = page.locator("#add-key");
    await form.locator("summary").click();
    await form.getByLabel(words.users.addKey.field).fill("no key");
    await act(page, words.users.addKey.button);
    await form.getByLabel(words.users.addKey.field).fill(key);
    await act(page, words.users.addKey.button);
    await notice(page, words.done.userKeyAdded);
    expect(await page.locator("#public-keys").innerText()).toContain("SHA256:");
  });

  test("sees in the audit who did what, and why, as it was written", async () => {
    const page = await open();
    await visit(page, "/console/audit");
    const table = page.locator("main table").first();
    const shown = await table.innerText();
    expect(shown).toContain(words.audit.kinds.userDisable);
    expect(shown).toContain(reason);
    await page.getByLabel(words.audit.filter.user).fill("operator");
    await page.getByRole("button", { name: words.kit.show }).click();
    await page.waitForURL(/user=operator/);
    expect(await table.innerText()).not.toContain(words.audit.kinds.userDisable);
  });

  test("has several refused files tried again, after it has seen what would become of each", async () => {
    await importPartner(story.site, "SPEEDY");
    const page = await open();
    await visit(page, "/console/files?state=refused");
    for (const { name } of [files.alsoUnknownCarrier, files.faulty])
      await page.getByLabel(words.files.chooseFile(name)).check();
    await page.getByRole("button", { name: words.files.retryChosen }).click();
    const shown = page.locator("main");
    await shown.getByText(files.alsoUnknownCarrier.name).first().waitFor();
    expect(await stateOf(files.alsoUnknownCarrier.name)).toBe("refused");
    await page.getByLabel(words.kit.reason).fill(reason);
    await page.locator("details[open] form, main form").last().getByRole("button").last().click();
    const isApplied = async () => (await stateOf(files.alsoUnknownCarrier.name)) === "applied";
    await waitFor("the file to be applied", isApplied);
    expect(await stateOf(files.faulty.name)).toBe("refused");
  });

  test("sends a delivery again", async () => {
    const guid = await deliveryOf(story.site, "outbound", "delivered");
    const page = await open();
    await visit(page, "/console/deliveries?target=outbound&state=delivered");
    await page.locator(`main a[href$="${guid}"]`).first().click();
    await act(page, words.deliveries.several["delivery.resend"].label);
    await notice(page, words.done.deliveriesResent);
    expect(await main(page)).toContain(reason);
    await waitFor(
      "the delivery",
      async () => (await deliveryOf(story.site, "outbound", "delivered")) === guid,
    );
  });

  test("resumes a target whose password was mended, and what waited goes out", async () => {
    const page = await open();
    // Now and then it is tried, and rests again.
    await waitFor("the target to rest", async () => {
      await visit(page, "/console/deliveries");
      return (await main(page)).includes(words.deliveries.targets.rests);
    });
    story.shut.always();
    await page.locator(`a[href*="/targets/${company}/host/retry"]`).first().click();
    await act(page, words.deliveries.targetActs.retry.label);
    await notice(page, words.done.targetRetried);
    expect(await main(page)).not.toContain(words.deliveries.targets.rests);
    const isDelivered = () => deliveryOf(story.site, "host", "delivered").catch(() => undefined);
    await waitFor("the delivery", isDelivered);
  });

  test("pauses a target by hand, and somebody who may only look is not offered to resume it", async () => {
    const page = await open();
    await visit(page, "/console/deliveries");
    await page.locator(`a[href*="/targets/${company}/outbound/pause"]`).first().click();
    await act(page, words.deliveries.targetActs.pause.label);
    await notice(page, words.done.targetPaused);
    const viewer = await open("inquiry");
    await visit(viewer, "/console/deliveries");
    expect(await main(viewer)).toContain(words.deliveries.targets.paused);
    expect(await viewer.locator(`a[href*="/targets/"]`).count()).toBe(0);
    await page.locator(`a[href*="/targets/${company}/outbound/resume"]`).first().click();
    await act(page, words.deliveries.targetActs.resume.label);
    await notice(page, words.done.targetResumed);
  });
});

describe.skipIf(!hasBrowser)("the developer of a host", () => {
  test("puts XML in, sees what is wrong with it, mends it, and nothing is stored", async () => {
    const page = await openAs(browser, story, { userName: "integration", allowed: [/^status of 4(00|22)/] });
    await visit(page, "/console/hosts");
    const good = String(stopFile("7001").content);
    const tryIt = async (text: string) => {
      await page.getByLabel(words.hosts.text).fill(text);
      await page.getByRole("button", { name: words.hosts.tryIt }).click();
    };
    await tryIt(good.replace("<ShipToName>", "<ShipToNmae>").replace("</ShipToName>", "</ShipToNmae>"));
    await page.getByText(words.hosts.states.refused).waitFor();
    expect(await main(page)).toMatch(/951[\s\S]*ShipToNmae/);
    await tryIt(good);
    await page.getByText(words.hosts.states.applied).waitFor();
    await page.getByText(words.hosts.nothingStored).waitFor();
    expect(await story.site.json<unknown[]>("files", "--stop", "7001")).toEqual([]);
  });
});
