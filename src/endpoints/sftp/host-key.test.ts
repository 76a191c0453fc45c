import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2 from "ssh2";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureHostKeys, generateEd25519HostKey, generateRsaHostKey, readHostKeys } from "./host-key.ts";
import { runProgram } from "./testing/run-client.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "dropgate-keys-"));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

test.each([
  ["ed25519", generateEd25519HostKey],
  ["rsa", generateRsaHostKey],
])("ssh-keygen reads a generated %s key and shows the same fingerprint", async (_type, generate) => {
  const key = generate();
  const file = join(directory, "key");
  await writeFile(file, key.pem, { mode: 0o600 });
  const shown = await runProgram("ssh-keygen", ["-lf", file], directory);
  expect(shown.output).toContain(key.fingerprint);
  const derived = await runProgram("ssh-keygen", ["-yf", file], directory);
  expect(derived.output).toContain(key.publicLine);
});

test("a thousand ed25519 keys can all be read, those with leading zero bytes too", () => {
  for (let count = 0; count < 1_000; count += 1) {
    const key = generateEd25519HostKey();
    expect(Buffer.from(key.publicLine.split(" ")[1] ?? "", "base64")).toHaveLength(51);
    expect(ssh2.utils.parseKey(key.pem)).not.toBeInstanceOf(Error);
  }
});

test("keys are made once, readable by the owner alone, the RSA one only when legacy clients are taken", async () => {
  const first = await ensureHostKeys(directory, { legacy: false });
  const again = await ensureHostKeys(directory, { legacy: true });
  expect(first.map((key) => key.type)).toEqual(["ssh-ed25519"]);
  expect(again.map((key) => key.type)).toEqual(["ssh-ed25519", "ssh-rsa"]);
  expect(again[0]).toEqual(first[0]);
  const file = join(directory, "ssh_host_ed25519_key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toBe(first[0]?.pem);
});

test("a key that others can read is refused with the remedy", async () => {
  await ensureHostKeys(directory, { legacy: false });
  await chmod(join(directory, "ssh_host_ed25519_key"), 0o644);
  await expect(ensureHostKeys(directory, { legacy: false })).rejects.toThrow(/mode 0644.*chmod 600/);
});

test("a key that is missing is refused with the remedy, and not made by reading", async () => {
  await expect(readHostKeys(directory, { legacy: false })).rejects.toThrow(
    /ssh_host_ed25519_key is missing: restore it from a backup/,
  );
  const made = await ensureHostKeys(directory, { legacy: false });
  expect(await readHostKeys(directory, { legacy: false })).toEqual(made);
  await expect(readHostKeys(directory, { legacy: true })).rejects.toThrow("ssh_host_rsa_key is missing");
  expect(await readdir(directory)).toEqual(["ssh_host_ed25519_key"]);
});
