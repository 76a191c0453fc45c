/** The completion in a real bash. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../test/support/run-program.ts";
import { renderCompletion } from "./render-completion.ts";

let folder = "";
let script = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-completion-"));
  script = join(folder, "completion");
  writeFileSync(script, renderCompletion());
  writeFileSync(join(folder, "key of acme.pub"), "");
  mkdirSync(join(folder, "keys"));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** What bash is offered for the last word. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const call = `. "$0"; COMP_WORDS=(dropgate "$@"); COMP_CWORD=$#; _dropgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { exitCode, output } = await runProgram("bash", ["-uc", call, script, ...words], { cwd: folder });
  expect(exitCode, output).toBe(0);
  return output.split("\n").filter((line) => line !== "");
}

describe("the completion", () => {
  test("offers commands, and those of a group", async () => {
    expect(await offered("s")).toEqual(["serve", "simulate"]);
    expect(await offered("user", "add")).toEqual(["add", "add-key"]);
    expect(await offered("--config", "serve", "user", "dis")).toEqual(["disable"]);
    expect(await offered("user", "--config=x", "keys", "")).toEqual([]);
  });

  test("offers the options of the command", async () => {
    expect(await offered("user", "add-key", "-")).toEqual(["-c", "--config", "--company", "--key", "--help"]);
    expect(await offered("user", "add-key", "--k")).toEqual(["--key"]);
    expect(await offered("--c")).toEqual(["--config"]);
  });

  test("offers what an option takes: its choices, files, folders, or nothing", async () => {
    expect(await offered("integration", "test", "--as", "l")).toEqual(["loads"]);
    expect(await offered("user", "add-key", "acme-host", "--key", "key")).toEqual([
      "key of acme.pub",
      "keys",
    ]);
    expect(await offered("user", "add-key", "--key", "=", "key")).toEqual(["key of acme.pub", "keys"]);
    expect(await offered("user", "add-key", "--key", "=")).toContain("keys");
    expect(await offered("init", "--dir", "k")).toEqual(["keys"]);
    expect(await offered("restore", "k")).toEqual(["keys"]);
    expect(await offered("restore", "keys", "--to", "k")).toEqual(["keys"]);
    expect(await offered("files", "--company", "")).toEqual([]);
  });

  test("offers files to commands that take files, and to no other", async () => {
    expect(await offered("validate", "key")).toEqual(["key of acme.pub", "keys"]);
    expect(await offered("user", "keys", "key")).toEqual([]);
  });

  test("completes at the key TAB", async () => {
    const lines = [
      `. ${script}`,
      "dropgate() { printf '<%s>' \"$@\"; }",
      "dropgate us\tadd-k\tacme-host --k\tkey\\ \t",
      "exit",
    ];
    const bash = ["-qefc", "bash --norc --noprofile -i", "/dev/null"];
    const env = { ...process.env, PS1: "", HISTFILE: "", INPUTRC: "/dev/null", TERM: "dumb" };
    const input = `${lines.join("\n")}\n`;
    const { output } = await runProgram("script", bash, { cwd: folder, env, input });
    expect(output).toContain("<user><add-key><acme-host><--key><key of acme.pub>");
  });
});
