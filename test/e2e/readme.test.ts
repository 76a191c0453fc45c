/**
 * README.md, followed from the first to the last block by somebody who looks at the program for the first time: the demo
 * runs, each command is run as it stands but for folders and ports, and shows what the page shows.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksIn, projectFolder, spansIn, textOf } from "../support/markdown.ts";
import { runDemo } from "../support/run-demo.ts";
import { type ProgramResult, runProgram } from "../support/run-program.ts";
import { commandsOf, type Followed, followPage, isAsShown, type Shown } from "../support/server-pages.ts";
import { freePort } from "../support/server-process.ts";

const page = "README.md";
/** What runs while the page is followed, and what runs this test. */
const around = ["npm start", "npm test"];

let folder: string;
let ports: { readonly http: number; readonly sftp: number };

const demo = () => join(folder, "var");

/** OpenSSH's `sftp` as it is typed, but that it asks a script for the password and keeps host keys in the folder. */
function writeClient(): void {
  const options = [
    "-F none",
    `-o UserKnownHostsFile=${folder}/known_hosts`,
    "-o GlobalKnownHostsFile=/dev/null",
    "-o StrictHostKeyChecking=accept-new",
    "-o IdentityFile=none",
    "-o IdentityAgent=none",
  ];
  const client = `#!/bin/sh\nPATH=\${PATH#*:}\nexec sftp ${options.join(" ")} "$@"\n`;
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/sftp"), client, { mode: 0o755 });
  writeFileSync(join(folder, "ask-pass"), `#!/bin/sh\ncat ${demo()}/demo.password\n`, { mode: 0o755 });
}

async function run(command: string): Promise<ProgramResult> {
  const places: readonly (readonly [RegExp, string])[] = [
    [/(?<![\w.])\/tmp\//g, `${folder}/`],
    [/(?<![\w/.])var\//g, `${demo()}/`],
    [/\b8080\b/g, String(ports.http)],
    [/\b2222\b/g, String(ports.sftp)],
  ];
  const text = places.reduce((result, [shown, own]) => result.replaceAll(shown, own), command);
  const env = {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    DROPGATE_CONFIG: join(demo(), "dropgate.yaml"),
    SSH_ASKPASS: join(folder, "ask-pass"),
    SSH_ASKPASS_REQUIRE: "force",
    DISPLAY: ":0",
  };
  return await runProgram("sh", ["-c", text], { cwd: projectFolder, env });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-readme-"));
  ports = { http: await freePort(), sftp: await freePort() };
  writeClient();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Commands of the checkout in the text of the page, such as `bin/dropgate check`. */
const namedCommands = () => spansIn(page).filter((span) => /^bin\/dropgate \S/.test(span));

test("each command of the page succeeds while the demo runs, and shows what the page shows", async () => {
  const steps: Followed[] = [];
  const shown: Shown[] = [];
  const follow = async () => {
    const server = {
      run: async (command: string) => (around.includes(command) ? undefined : await run(command)),
      configure: () => Promise.reject(new Error(`${page} has settings, which nobody puts into the demo`)),
    };
    await followPage(page, server, {
      followed: (step) => {
        expect(step.result?.exitCode ?? 0, `${step.command}\n${step.result?.output}`).toBe(0);
        steps.push(step);
      },
      showed: (outcome) => shown.push(outcome),
    });
    for (const command of namedCommands()) {
      const { exitCode, output } = await run(command);
      expect(exitCode, `${command}\n${output}`).toBe(0);
    }
  };
  await runDemo(demo(), follow, ports);
  const commands = blocksIn(page).flatMap(({ language, text }) =>
    language === "sh" ? commandsOf(text) : [],
  );
  expect(steps.map(({ command }) => command)).toEqual(commands);
  const left = steps.filter(({ result }) => result === undefined).map(({ command }) => command);
  expect(left).toEqual(around);
  // The client says before what it fetches.
  const receipts = shown.filter((outcome) => isAsShown({ ...outcome, shown: `…\n${outcome.shown}` }));
  expect(receipts).toHaveLength(1);
  expect(shown).toHaveLength(1);
  const outputOf = (start: string) =>
    steps.find(({ command }) => command.startsWith(start))?.result?.output ?? "";
  expect(outputOf("curl ")).toContain('"stopNbr":"1001"');
  expect(outputOf("bin/dropgate explain")).toContain("1001_20261105_080000.xml");
  expect(outputOf("bin/dropgate files")).toMatch(/1001_20261105_080000\.xml +.*applied|applied.*1001_2026/);
  expect(namedCommands()).toContain("bin/dropgate check");
}, 600_000);

test("the demo of this test is that of `npm start`", () => {
  const { scripts } = JSON.parse(textOf("package.json")) as { readonly scripts: Record<string, string> };
  expect(scripts["start"]).toBe("sh bin/start");
});
