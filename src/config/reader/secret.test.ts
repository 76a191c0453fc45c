import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogger } from "../../lib/logs/log.ts";
import { resolveSecret, Secret } from "./secret.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-secret-"));
  writeFileSync(join(folder, "good"), "hunter2\n", { mode: 0o600 });
  writeFileSync(join(folder, "open"), "hunter2", { mode: 0o644 });
  chmodSync(join(folder, "open"), 0o644);
  writeFileSync(join(folder, "empty"), "\n", { mode: 0o600 });
  writeFileSync(join(folder, "large"), "x".repeat(70_000), { mode: 0o600 });
  execFileSync("mkfifo", ["-m", "600", join(folder, "pipe")]);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function resolved(reference: string, env: NodeJS.ProcessEnv = {}): string {
  const outcome = resolveSecret(reference, { env, folder });
  return outcome.kind === "resolved" ? outcome.secret.reveal() : `refused: ${outcome.message}`;
}

describe("a secret by reference", () => {
  test("is read from the environment", () => {
    expect(resolved("env:PASS", { PASS: "hunter2" })).toBe("hunter2");
  });

  test("is read from a file beside the configuration, without the last line break", () => {
    expect(resolved("file:good")).toBe("hunter2");
    expect(resolved(`file:${join(folder, "good")}`)).toBe("hunter2");
  });

  test("is read from a systemd credential", () => {
    expect(resolved("credential:good", { CREDENTIALS_DIRECTORY: folder })).toBe("hunter2");
  });

  test("in a file that others may read comes with a warning that names the mode", () => {
    const outcome = resolveSecret("file:open", { env: {}, folder });
    expect(outcome).toMatchObject({ kind: "resolved", warning: expect.stringContaining("0644") });
    expect(resolveSecret("file:good", { env: {}, folder })).not.toHaveProperty("warning");
  });

  test.each([
    ["env:NOT_THERE", "is not set"],
    ["env:BLANK", "is empty"],
    ["file:nowhere", "does not exist"],
    ["file:empty", "is empty"],
    ["file:large", "over 65536 bytes"],
    ["file:.", "not a regular file"],
    ["file:pipe", "not a regular file"],
    ["file:a\0b", "may not stand"],
    ["credential:good", "CREDENTIALS_DIRECTORY is not set"],
    ["env:", "may not stand"],
    ["vault:x", "may not stand"],
  ])("as `%s` is refused: it %s", (reference, message) => {
    expect(resolved(reference, { BLANK: "" })).toContain(message);
  });

  test("as a credential cannot leave the credentials directory", () => {
    for (const name of ["../good", "..", "/etc/hostname"]) {
      expect(resolved(`credential:${name}`, { CREDENTIALS_DIRECTORY: folder })).toContain(
        "is made of letters",
      );
    }
  });

  test("that is written out is refused without being repeated", () => {
    const outcome = resolved("hunter2");
    expect(outcome).toContain("env:NAME, file:PATH or credential:NAME");
    expect(outcome).not.toContain("hunter2");
  });
});

test("a secret is shown as [secret] by JSON, util.inspect, templates and the log", () => {
  const holder = { deep: { passkey: new Secret("hunter2") } };
  const lines: string[] = [];
  const log = createLogger({
    level: "info",
    destination: { write: (line: string) => void lines.push(line) },
  });
  log.info({ holder, own: holder.deep.passkey }, `is ${holder.deep.passkey}`);
  const shown = [JSON.stringify(holder), inspect(holder, { depth: 9, showHidden: true }), ...lines].join(
    "\n",
  );
  expect(shown).not.toContain("hunter2");
  expect(shown.split("[secret]")).toHaveLength(6);
  expect(holder.deep.passkey.reveal()).toBe("hunter2");
});
