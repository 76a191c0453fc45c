/**
 * docs/operations.md and the commands of docs/messages.md, followed on a server in a temporary folder on which there is what
 * the pages speak of: an applied file, refused ones, users with keys. Their settings are held by
 * `test/integration/docs.test.ts`.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { MappedServer } from "../support/mapped-server.ts";
import { blocksIn } from "../support/markdown.ts";
import type { ProgramResult } from "../support/run-program.ts";
import { commandsOf, followPage, type Shown } from "../support/server-pages.ts";
import { carrier, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const page = "docs/operations.md";

/** Commands that change the machine, with the reason. */
const leftOut: readonly (readonly [commands: RegExp, reason: string])[] = [
  [/^npm run package/, "npm run test:package makes both packages, twice"],
  [/^apt install /, "test/nightly/package-booted.ts installs the package"],
  [/^podman /, "test/nightly/package-image.ts runs the image"],
  [/^useradd |^install -d |^chown /, "the user of the service is not on this machine"],
  [/^cd \/opt\/dropgate && |^cp \/opt\/dropgate\//, "the program is that of the checkout"],
  [/^systemctl (?:daemon-reload|status) |^journalctl /, "there is no systemd"],
];

/** A day of 200 loads takes minutes, and two show as much. */
const shortened = [/--loads 200$/, "--loads 2"] as const;

const applied = "1001_20261105_080000.xml";
/** So many that there is an entry 12. */
const refusals = Array.from({ length: 14 }, (_, nbr) =>
  stopFile(`A${100 + nbr}`, { more: carrier("NOBODY"), stopFunction: "03" }),
);

let server: MappedServer;

async function typed(command: string): Promise<ProgramResult> {
  const result = await server.run(command);
  expect(result?.exitCode, `${command}\n${result?.output}`).toBe(0);
  if (result === undefined) throw new Error(`${command} was left out`);
  return result;
}

const put = (path: string, text: string) => typed(`cat > ${path} <<'END'\n${text}\nEND`);

async function untilCounted(count: number, state: string): Promise<void> {
  await waitFor(`${count} files that are ${state}`, async () => {
    const { stdout } = await typed(`dropgate files --count --state ${state}`);
    return Number(stdout) === count;
  });
}

/** Refused first, so that their numbers are the low ones. */
async function sendFiles(): Promise<void> {
  for (const { name, content } of refusals) await put(`/srv/orders/${name}`, String(content));
  await untilCounted(refusals.length, "refused");
  await typed(`cp /usr/share/doc/dropgate/config/samples/${applied} /srv/orders/`);
  await untilCounted(1, "applied");
}

/** What the page takes for granted before a command. */
const before: readonly (readonly [command: RegExp, make: () => Promise<unknown>])[] = [
  [/^dropgate user add beta-host /, () => typed("ssh-keygen -q -t ed25519 -N '' -f beta")],
  [/^dropgate explain 1001_/, sendFiles],
  [/^dropgate validate /, () => typed(`cp /usr/share/doc/dropgate/config/samples/${applied} .`)],
  [/^dropgate user add-key acme-host /, () => typed("ssh-keygen -q -t ed25519 -N '' -f acme")],
  [/^dropgate user add trial-host /, () => put("trial.password", "secret-of-trial-host")],
];

let lastOutput = "";

async function run(command: string): Promise<ProgramResult | undefined> {
  if (leftOut.some(([form]) => form.test(command))) return undefined;
  for (const [form, make] of before) if (form.test(command)) await make();
  // The page shows how a fingerprint begins; the command before has printed them.
  const [fingerprint = ""] = /SHA256:[\w+/]{43}/.exec(lastOutput) ?? [];
  const meant = command.replace("SHA256:…", fingerprint).replace(...shortened);
  const result = await server.run(meant);
  lastOutput = result?.output ?? "";
  return result;
}

const commandsIn = (of: string) =>
  blocksIn(of).flatMap(({ language, text }) => (language === "sh" ? commandsOf(text) : []));

beforeAll(async () => {
  server = await MappedServer.make();
  await typed("mkdir /srv/orders");
  const folders = [{ path: "/srv/orders" }];
  await server.configure(
    JSON.stringify({ inbound: { settleMs: 300, scanMs: 500 }, companies: { ACME: { folders } } }),
  );
});
afterAll(() => server.end());

test("each command of the page succeeds, but for those that change the machine", async () => {
  const followed: string[] = [];
  const left: string[] = [];
  const shown: Shown[] = [];
  await followPage(
    page,
    { run, configure: () => Promise.resolve() },
    {
      followed: ({ command, result }) => {
        expect(result?.exitCode ?? 0, `${command}\n${result?.output}`).toBe(0);
        (result === undefined ? left : followed).push(command);
      },
      showed: (outcome) => shown.push(outcome),
    },
  );
  expect([...followed, ...left].toSorted()).toEqual(commandsIn(page).toSorted());
  // Only the machine's own.
  expect(left.filter((command) => /^(?:dropgate|ssh-keygen)\b/.test(command))).toEqual([]);
  for (const [form] of leftOut) expect(left.filter((command) => form.test(command))).not.toEqual([]);
  for (const [form] of [...before, shortened])
    expect(followed.filter((command) => form.test(command))).toHaveLength(1);
  const [verified, ...more] = shown;
  expect(more).toEqual([]);
  const lines = (text = "") => text.trimEnd().split("\n");
  expect(lines(verified?.output)[0]).toBe(lines(verified?.shown)[0]);
  const proof = /^The ledger is correct: \d+ entries, \d+ bytes hashed\.$/;
  expect([lines(verified?.output).at(-1), lines(verified?.shown).at(-1)]).toEqual([
    expect.stringMatching(proof),
    expect.stringMatching(proof),
  ]);
}, 600_000);

test("each command of docs/messages.md succeeds where there is one company", async () => {
  const commands = commandsIn("docs/messages.md");
  expect(commands).toHaveLength(3);
  const other = await MappedServer.make();
  onTestFinished(() => other.end());
  const init =
    "dropgate init --config /etc/dropgate/dropgate.yaml --dir /var/lib/dropgate --company ACME --user acme-host";
  for (const command of [init, ...commands]) {
    const result = await other.run(command);
    expect(result?.exitCode, `${command}\n${result?.output}`).toBe(0);
  }
});
