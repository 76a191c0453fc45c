/**
 * The pages for the administrator of a server, followed from the first to the last on one server in a temporary folder.
 * What only a system can do is followed by `test/nightly/package-booted.ts`, where nothing is left out.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { subjectOf } from "../support/alert-site.ts";
import { leftOut, MappedServer } from "../support/mapped-server.ts";
import { blocksIn, textOf } from "../support/markdown.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { isInstalled } from "../support/run-program.ts";
import {
  commandsNamedIn,
  commandsOf,
  type Followed,
  followPage,
  isAsShown,
  type Server,
  serverPages,
  type Shown,
} from "../support/server-pages.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

/** Followed as well, on this machine only: it needs servers that take mails and posts. */
const alertsPage = "docs/alerts.md";

/** Commands in the text of a page that no block holds, with the reason. */
const namedOnly = new Map([
  ["git pull", "changes the checkout that the tests are of"],
  ["sh bin/prepare", "is run before each run of the tests"],
  ["dropgate delivery give-up", "takes the number of a delivery that is not wanted: test/e2e/resend.test.ts"],
  ["dropgate files --state pruned", "lists files of another age: test/integration/pruned-files.test.ts"],
  ["dpkg --configure dropgate", "after an upgrade whose check failed, which package-booted.ts has fail"],
]);

const commandsIn = (page: string) =>
  blocksIn(page).flatMap(({ language, text }) => (language === "sh" ? commandsOf(text) : []));

let server: MappedServer;

beforeAll(async () => {
  server = await MappedServer.make();
});
/** The first backup by the schedule is due at once: it may begin while a page makes one by hand. */
const bothAtOnce = /^the backup failed.*another backup of \S+ is being made at this moment/;
afterAll(() => server.end(bothAtOnce));

/** Follows a page; fails at a command that fails, and at an output that is not the page's. */
async function follow(page: string, on: Server): Promise<void> {
  const steps: Followed[] = [];
  const shown: Shown[] = [];
  await followPage(page, on, {
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
}

describe.each(serverPages)("%s", (page) => {
  const lacksProgram = page === "docs/monitoring.md" && !isInstalled("prometheus");

  test.skipIf(lacksProgram)("is followed: each command succeeds, and shows what the page shows", () =>
    follow(page, server),
  );
});

/** The settings of docs/alerts.md with servers of this machine in the place of those that they name. */
function withOwnServers(settings: string, smtpPort: number, url: string): string {
  return settings
    .replace(/^( *)host: smtp\.example\.com$/m, `$1host: 127.0.0.1\n$1port: ${smtpPort}\n$1tls: none`)
    .replace("url: https://acme.example/hooks/dropgate", `url: ${JSON.stringify(url)}, allowPlain: true`);
}

describe("docs/alerts.md", () => {
  let smtp: SmtpServer;
  let web: Receiver;
  beforeAll(async () => {
    smtp = await startSmtpServer();
    web = await startReceiver();
  });
  afterAll(async () => {
    await Promise.all([smtp.end(), web.end()]);
  });

  test("is followed: everybody that it names is told", async () => {
    const configure = (settings: string) => server.configure(withOwnServers(settings, smtp.port, web.url));
    await follow(alertsPage, { run: (command) => server.run(command), configure });
    const told = smtp.mails.filter((mail) => subjectOf(mail).endsWith("test of alerts"));
    expect(told.flatMap(({ to }) => to).sort()).toEqual(["ops@example.com", "orders@acme.example"]);
    // What the page adds to the settings behind its last reload.
    for (const command of ["systemctl reload dropgate", "dropgate alert test"])
      expect(await server.run(command)).toMatchObject({ exitCode: 0 });
    const posted = web.posts.map(({ body }) => JSON.parse(body.toString()) as { readonly type: string });
    expect(posted.map(({ type }) => type)).toContain("dropgate.test");
  });
});

test.each([...serverPages, alertsPage])("%s names no command that nobody follows", (page) => {
  const followed = [...serverPages, alertsPage].flatMap(commandsIn);
  const isFollowed = (span: string) => namedOnly.has(span) || followed.some((one) => one.includes(span));
  expect(commandsNamedIn(page).filter((span) => !isFollowed(span))).toEqual([]);
});

test("every page that the first one leads to is followed, or is a reference", () => {
  const next = textOf("docs/first-ten-minutes.md").split("## Next")[1] ?? "";
  const pages = [...next.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name = ""]) => `docs/${name}`);
  expect(pages.length).toBeGreaterThan(5);
  const others = pages.filter((page) => !serverPages.some((one) => one === page));
  expect(others).toEqual([alertsPage, "docs/outbound.md"]);
});

test("what is left out is on a page, and what is named only as well", () => {
  const commands = serverPages.flatMap(commandsIn);
  for (const [form] of leftOut)
    expect(
      commands.filter((command) => form.test(command)),
      String(form),
    ).not.toEqual([]);
  const spans = [...serverPages, alertsPage].flatMap(commandsNamedIn);
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
