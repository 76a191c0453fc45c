/** The completion in a real bash. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filterValues } from "../../src/app/admin/file-filter.ts";
import { fileStates } from "../../src/domain/files/file-state.ts";
import { messageChannels } from "../../src/domain/messages/message-event.ts";
import { targetTypes } from "../../test/support/target-types.ts";
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
  const { exitCode, output } = await runProgram("bash", ["--norc", "-uc", call, script, ...words], {
    cwd: folder,
  });
  expect(exitCode, output).toBe(0);
  return output.split("\n").filter((line) => line !== "");
}

describe("the completion", () => {
  test("offers commands, and those of a group", async () => {
    expect(await offered("s")).toEqual(["serve", "store", "simulate"]);
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

  test("offers the values of options that take few of them", async () => {
    expect(await offered("files", "--state", "")).toEqual([
      ...["waiting", "retry", "applied", "refused", "duplicate", "superseded", "pruned"],
    ]);
    expect(await offered("file", "retry", "--state", "=", "re")).toEqual(["retry", "refused"]);
    expect(await offered("files", "--channel", "f")).toEqual(["ftp", "folder"]);
    expect(await offered("files", "--reason", "95")).toContain("953");
    expect(await offered("deliveries", "--state", "d")).toEqual(["delivered", "dead", "dropped"]);
    expect(await offered("delivery", "retry", "--state", "")).toEqual(["dead", "waiting", "dropped"]);
    expect(await offered("deliveries", "--fault", "c")).toEqual([
      ...["connectionLost", "credentials", "configuration", "content"],
    ]);
    expect(await offered("delivery", "resend", "--channel", "s")).toEqual(["sftp", "sms"]);
    // A word that has the same name elsewhere and takes any text.
    expect(await offered("company", "set", "ACME", "--state", "")).toEqual([]);
  });

  test("knows every value that the program takes", () => {
    expect(new Set(filterValues.targetTypes)).toEqual(new Set([...targetTypes, ...messageChannels]));
    expect(new Set(filterValues.fileStates)).toEqual(new Set([...fileStates, "pruned"]));
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
      "dropgate files --sta\tpru\t--ch\trec\t",
      "exit",
    ];
    const bash = ["-qefc", "bash --norc --noprofile -i", "/dev/null"];
    const env = { ...process.env, PS1: "", HISTFILE: "", INPUTRC: "/dev/null", TERM: "dumb" };
    const input = `${lines.join("\n")}\n`;
    const { output } = await runProgram("script", bash, { cwd: folder, env, input });
    expect(output).toContain("<user><add-key><acme-host><--key><key of acme.pub>");
    expect(output).toContain("<files><--state><pruned><--channel><recovered>");
  });
});
