import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { generateEd25519HostKey, generateRsaHostKey } from "./host-key.ts";
import { isInstalled, makeUserKey, runProgram, runSftp, sshOptions } from "./testing/run-client.ts";
import { startServer, type TestServer } from "./testing/start-server.ts";

/** The part of ssh2-sftp-client that is used here; the package brings no types. */
interface LibraryClient {
  connect(options: { host: string; port: number; username: string; password: string }): Promise<unknown>;
  put(from: string, to: string): Promise<unknown>;
  get(path: string): Promise<Buffer>;
  list(path: string): Promise<readonly { readonly name: string }[]>;
  end(): Promise<unknown>;
}
const SftpClient: new () => LibraryClient = createRequire(import.meta.url)("ssh2-sftp-client");

let server: TestServer;
let keyFile: string;

beforeEach(async () => {
  server = await startServer();
  const key = await makeUserKey(server, "ed25519");
  server.signIn.keys.add(key.blob);
  keyFile = key.file;
});

afterEach(() => server.stop());

async function localFile(name: string, bytes: number): Promise<Buffer> {
  const content = randomBytes(bytes);
  await writeFile(join(server.work, name), content);
  return content;
}

describe("OpenSSH sftp", () => {
  test("puts, lists, renames, gets and removes", async () => {
    const content = await localFile("a.xml", 4096);
    const commands = ["put a.xml", "ls -l", "rename a.xml b.xml", "get b.xml back.xml", "rm b.xml", "ls"];
    const result = await runSftp(server, keyFile, commands);
    expect(result.exitCode).toBe(0);
    expect(result.output).toMatch(/-rw-r----- +1 dropgate dropgate +4096 \w{3} +\d+ \d\d:\d\d a\.xml/);
    expect(await readFile(join(server.work, "back.xml"))).toEqual(content);
    expect(server.exchange.completed).toEqual(["a.xml"]);
  });

  test("with 64 requests outstanding every WRITE takes effect before the CLOSE", async () => {
    const content = await localFile("big", 20_000_000);
    const result = await runSftp(server, keyFile, ["put big", "get big back"], ["-R", "64", "-B", "32768"]);
    expect(result.exitCode).toBe(0);
    const journal = server.exchange.journal.filter((line) => line.endsWith("/big") || line.includes("/big "));
    expect(journal[0]).toBe("open /big");
    expect(journal.at(-1)).toBe("close /big");
    expect((await readFile(join(server.root, "big"))).equals(content)).toBe(true);
    expect((await readFile(join(server.work, "back"))).equals(content)).toBe(true);
  });

  test("sees the extensions: put -f syncs, df answers, posix-rename is there", async () => {
    await localFile("a.xml", 100);
    const result = await runSftp(server, keyFile, ["put -f a.xml", "df", "rename a.xml b.xml"], ["-vvv"]);
    expect(result.exitCode).toBe(0);
    expect(server.exchange.journal).toContain("sync /a.xml");
    expect(result.output).toMatch(/%Capacity/);
    for (const name of ["posix-rename", "statvfs", "fstatvfs", "fsync", "limits"]) {
      expect(result.output).toContain(`"${name}@openssh.com"`);
    }
  });

  test("says why something is refused", async () => {
    const result = await runSftp(server, keyFile, ["-get nothing", "-symlink a b", "-rm nothing"]);
    expect(result.exitCode).toBe(0);
    expect(result.output).toContain("not found");
    expect(result.output).toContain("Operation unsupported");
    expect(result.output).toContain("No such file");
  });

  test.each([
    ["ed25519", undefined],
    ["ecdsa", 256],
    ["ecdsa", 384],
    ["ecdsa", 521],
    ["rsa", 3072],
  ])("signs in with a %s key of %s bits, and not before the key is known", async (type, bits) => {
    const key = await makeUserKey(server, `${type}`, bits);
    expect((await runSftp(server, key.file, ["pwd"])).exitCode).not.toBe(0);
    server.signIn.keys.add(key.blob);
    const result = await runSftp(server, key.file, ["pwd"]);
    expect(result.output).toContain("Remote working directory: /");
    expect(result.exitCode).toBe(0);
  });

  test("only companies with the role DI_Integration are shown to the exchange", async () => {
    await runSftp(server, keyFile, ["pwd"]);
    const [peer] = server.exchange.peers;
    expect(peer).toMatchObject({ userName: "host", channel: "sftp", companies: [{ id: 7, code: "ACME" }] });
  });
});

describe("other clients", () => {
  test("OpenSSH scp copies both ways and ends with 0", async () => {
    const content = await localFile("a.bin", 300_000);
    const options = await sshOptions(server, keyFile);
    const args = [...options, "-P", String(server.endpoint.port)];
    const up = await runProgram("scp", [...args, "a.bin", "host@127.0.0.1:/a.bin"], server.work);
    const down = await runProgram("scp", [...args, "host@127.0.0.1:/a.bin", "back.bin"], server.work);
    expect([up.exitCode, down.exitCode]).toEqual([0, 0]);
    expect(await readFile(join(server.work, "back.bin"))).toEqual(content);
  });

  test("a command is refused in words and with exit status 1", async () => {
    const options = await sshOptions(server, keyFile);
    const args = [...options, "-p", String(server.endpoint.port), "host@127.0.0.1", "id"];
    const result = await runProgram("ssh", args, server.work);
    expect(result.exitCode).toBe(1);
    expect(result.output).toContain("only SFTP is served here");
  });

  test.skipIf(!isInstalled("curl"))("curl uploads, appends, lists and downloads", async () => {
    const content = await localFile("a.xml", 50_000);
    const url = `sftp://127.0.0.1:${server.endpoint.port}/`;
    const args = ["-sS", "-k", "--user", "host:secret"];
    const up = await runProgram("curl", [...args, "-T", "a.xml", url], server.work);
    const list = await runProgram("curl", [...args, url], server.work);
    const down = await runProgram("curl", [...args, "-o", "back.xml", `${url}a.xml`], server.work);
    expect([up, list, down].map((each) => each.exitCode)).toEqual([0, 0, 0]);
    expect(list.output).toContain("a.xml");
    expect(await readFile(join(server.work, "back.xml"))).toEqual(content);
  });

  test.skipIf(!isInstalled("lftp"))("lftp uploads, moves and downloads", async () => {
    const content = await localFile("a.xml", 50_000);
    const known = await sshOptions(server, keyFile);
    const connect = `set sftp:connect-program "ssh -a -x ${known.filter((each) => !each.includes("BatchMode")).join(" ")}"`;
    const script = `${connect.replaceAll("-o -o", "-o")}; set net:max-retries 1; put a.xml; mv a.xml b.xml; get b.xml -o back.xml; quit`;
    const url = `sftp://host:@127.0.0.1:${server.endpoint.port}`;
    const result = await runProgram("lftp", ["-e", script, url], server.work);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(server.work, "back.xml"))).toEqual(content);
  });

  test("ssh2-sftp-client puts, lists and gets", async () => {
    const content = await localFile("a.xml", 200_000);
    const client = new SftpClient();
    const { port } = server.endpoint;
    await client.connect({ host: "127.0.0.1", port, username: "host", password: "secret" });
    await client.put(join(server.work, "a.xml"), "/a.xml");
    expect((await client.list("/")).map((entry) => entry.name)).toEqual(["a.xml"]);
    expect(await client.get("/a.xml")).toEqual(content);
    await client.end();
  });
});

describe("algorithms", () => {
  const oldOnly = ["-o", "KexAlgorithms=diffie-hellman-group14-sha1", "-o", "HostKeyAlgorithms=ssh-rsa"];

  test("a client that knows only old ones is refused, and the log says what it offered", async () => {
    const result = await runSftp(server, keyFile, ["pwd"], oldOnly);
    expect(result.exitCode).not.toBe(0);
    const line = server.logLines.find((each) => each.msg.includes("no algorithm"));
    expect(line).toMatchObject({ level: "warn", remedy: "sftp.legacyAlgorithms: true would accept it" });
    expect(JSON.stringify(line)).toContain("diffie-hellman-group14-sha1");
    expect(JSON.stringify(line)).toContain("OpenSSH");
  });

  test.runIf(isInstalled("ssh-keyscan"))("ssh-keyscan gets the key, and no warning comes of it", async () => {
    const port = String(server.endpoint.port);
    const types = "rsa,ecdsa,ed25519";
    const result = await runProgram("ssh-keyscan", ["-p", port, "-t", types, "127.0.0.1"], server.work);
    expect(result.output).toContain(server.hostKey.publicLine.split(" ")[1]);
    const asked = server.logLines.filter((line) => line.msg.includes("a single type of host key"));
    expect(asked.map(({ level }) => level)).toEqual(["info", "info"]);
    expect(server.logLines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("sftp.legacyAlgorithms takes that client", async () => {
    await server.stop();
    server = await startServer({ legacyAlgorithms: true }, [generateRsaHostKey(), generateEd25519HostKey()]);
    const key = await makeUserKey(server, "ed25519");
    server.signIn.keys.add(key.blob);
    const result = await runSftp(server, key.file, ["pwd"], oldOnly);
    expect(result).toMatchObject({ exitCode: 0 });
  });

  test("a signature with RSA and SHA-1 is refused", async () => {
    const key = await makeUserKey(server, "rsa", 2048);
    server.signIn.keys.add(key.blob);
    const sha1 = ["-o", "PubkeyAcceptedAlgorithms=ssh-rsa"];
    expect((await runSftp(server, key.file, ["pwd"], sha1)).exitCode).not.toBe(0);
    expect(server.exchange.peers).toHaveLength(0);
  });
});
