/**
 * The pages for the administrator of a server, followed from the first to the last on one server in a temporary folder.
 * What only a system can do is followed by `test/nightly/package-booted.ts`, where nothing is left out.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leftOut, MappedServer } from "../support/mapped-server.ts";
import { blocksIn, textOf } from "../support/markdown.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  commandsNamedIn,
  commandsOf,
  type Followed,
  followPage,
  isAsShown,
  serverPages,
  type Shown,
} from "../support/server-pages.ts";

/** Commands in the text of a page that no block holds, with the reason. */
const namedOnly = new Map([
  ["git pull", "changes the checkout that the tests are of"],
  ["sh bin/prepare", "is run before each run of the tests"],
  ["dropgate delivery give-up", "takes the number of a delivery that is not wanted: test/e2e/resend.test.ts"],
  ["dpkg --configure dropgate", "after an upgrade whose check failed, which package-booted.ts has fail"],
]);

const commandsIn = (page: string) =>
  blocksIn(page).flatMap(({ language, text }) => (language === "sh" ? commandsOf(text) : []));

let server: MappedServer;

beforeAll(async () => {
  server = await MappedServer.make();
});
afterAll(() => server.end());

describe.each(serverPages)("%s", (page) => {
  const lacksProgram = page === "docs/monitoring.md" && !isInstalled("prometheus");

  test.skipIf(lacksProgram)("is followed: each command succeeds, and shows what the page shows", async () => {
    const steps: Followed[] = [];
    const shown: Shown[] = [];
    await followPage(page, server, {
      followed: (step) => {
        expect(step.result?.exitCode ?? 0, `${step.command}\n${step.result?.output}`).toBe(0);
        steps.push(step);
      },
      showed: (outcome) => shown.push(outcome),
    });
    for (const outcome of shown)
      expect(isAsShown(outcome) ? outcome.shown : outcome.output).toBe(outcome.shown);
    expect(steps.map(({ command }) => command)).toEqual(commandsIn(page));
    const left = steps.filter(({ result }) => result === undefined).map(({ command }) => command);
    expect(left.filter((command) => !leftOut.some(([form]) => form.test(command)))).toEqual([]);
    expect(left.length).toBeLessThan(steps.length);
  });

  test("names no command that nobody follows", () => {
    const followed = serverPages.flatMap(commandsIn);
    const isFollowed = (span: string) => namedOnly.has(span) || followed.some((one) => one.includes(span));
    expect(commandsNamedIn(page).filter((span) => !isFollowed(span))).toEqual([]);
  });
});

describe("docs/alerts.md", () => {
  // Its one command needs servers that take mails and posts, which a server of its own test is.
  test("has commands that another test runs", () => {
    const commands = commandsIn("docs/alerts.md").map((command) => command.split(" ").slice(1));
    expect(commands).not.toEqual([]);
    const run = textOf("test/e2e/alerts.test.ts");
    const isRun = (words: readonly string[]) => run.includes(words.map((word) => `"${word}"`).join(", "));
    expect(commands.filter((words) => !isRun(words))).toEqual([]);
  });
});

test("every page that the first one leads to is followed, or is a reference", () => {
  const next = textOf("docs/first-ten-minutes.md").split("## Next")[1] ?? "";
  const pages = [...next.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name = ""]) => `docs/${name}`);
  expect(pages.length).toBeGreaterThan(5);
  const others = pages.filter((page) => !serverPages.some((one) => one === page));
  expect(others).toEqual(["docs/alerts.md", "docs/outbound.md"]);
});

test("what is left out is on a page, and what is named only as well", () => {
  const commands = serverPages.flatMap(commandsIn);
  for (const [form] of leftOut)
    expect(
      commands.filter((command) => form.test(command)),
      String(form),
    ).not.toEqual([]);
  const spans = serverPages.flatMap(commandsNamedIn);
  for (const span of namedOnly.keys()) expect(spans).toContain(span);
});

test("an output that the page does not show is found", () => {
  expect(
    isAsShown({ shown: "a 2026-11-05T08:00:00Z\n…\nend", output: "a 2027-01-01T00:00:00.5Z\nb\nc\nend\n" }),
  ).toBe(true);
  expect(isAsShown({ shown: "…\nend", output: "end\n" })).toBe(true);
  expect(isAsShown({ shown: "a\nend", output: "a\nb\nend\n" })).toBe(false);
  expect(isAsShown({ shown: "active", output: "inactive\n" })).toBe(false);
});
