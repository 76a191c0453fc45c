/** Start, reload and stop of the real program, and what systemd is told. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { hostname } from "node:os";
import { isOnPostgres } from "../support/store-dialect.ts";
import { http, sftp } from "../support/clients.ts";
import { company, program, Site } from "../support/daemon.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import {
  codesOf,
  fileName,
  put,
  receiptFor,
  send,
  stopElement,
  stopFile,
  stopsDocument,
  waitingIn,
  writeLocally,
} from "../support/stop-files.ts";
import { makeToldSystemd } from "../support/told-systemd.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({ log: { level: "debug" }, security: { bans: { allow: ["127.0.0.0/8"] } } });
  await site.start();
});
afterAll(() => site.end());

async function hup() {
  const seen = site.daemon.log.length;
  site.daemon.process.kill("SIGHUP");
  return await waitFor("the outcome of the reload", () =>
    site.daemon.log.slice(seen).find(({ msg }) => /configuration reloaded|configuration is faulty/.test(msg)),
  );
}

describe("start", () => {
  test("a second daemon on the same state refuses in one clear line and harms nothing", async () => {
    const second = await site.cli("serve");
    expect(second.exitCode).toBe(1);
    const place = isOnPostgres
      ? `the directory of a node ${join(site.stateDir, "nodes", hostname())}`
      : `the state directory ${site.stateDir}`;
    const words = `dropgate cannot start: ${place} is in use by process ${site.daemon.pid}`;
    const lines = second.output.trim().split("\n");
    expect(lines).toHaveLength(1);
    const told = { level: "fatal", time: expect.any(String), msg: expect.stringContaining(words) };
    expect(JSON.parse(lines[0] ?? "")).toEqual(told);
    expect(await send(site, stopFile("L100"))).toMatchObject({ status: 10 });
  });

  test("a faulty configuration is refused with every fault, its line and path, and exit code 2", async () => {
    const file = join(site.folder, "faulty.yaml");
    await writeFile(file, "stateDir: ./var\nhttp:\n  prot: 1\nsftp:\n  port: many\n");
    const result = await runProgram(program, ["serve", "--config", file]);
    expect(result.exitCode).toBe(2);
    expect(result.output).toMatch(/:3.*http\.prot/);
    expect(result.output).toMatch(/:5.*sftp\.port/);
  });

  // Elsewhere the file with the address of the database comes first.
  test.runIf(process.getuid?.() === 0 && !isOnPostgres)(
    "the wrong user is told which file it may not open, and who may",
    async () => {
      const other = await Site.make();
      onTestFinished(() => other.end());
      await runProgram("chown", ["-R", "1234:1234", other.stateDir]);
      await runProgram("chmod", ["755", other.folder]);
      await runProgram("chmod", ["644", other.configFile]);
      const asOther = ["--reuid", "4321", "--regid", "4321", "--clear-groups", program];
      const serve = await runProgram("setpriv", [...asOther, "serve", "--config", other.configFile]);
      expect(serve.exitCode).toBe(1);
      expect(serve.output).toContain(
        `dropgate cannot start: ${other.stateDir} cannot be entered: run dropgate as the user that owns it`,
      );
      const check = await runProgram("setpriv", [...asOther, "check", "--config", other.configFile]);
      expect(check.exitCode, check.output).toBe(2);
      expect(check.output).toContain("whether dropgate is running cannot be determined (EACCES)");
      expect(check.output).toContain("ssh_host_ed25519_key cannot be examined (EACCES)");
      for (const wrong of ["host key is missing", "is not registered", "company add"])
        expect(check.output).not.toContain(wrong);
    },
  );

  test("a certificate that is none is refused with its setting and its file", async () => {
    const tls = { certFile: join(site.folder, "cert.pem"), keyFile: join(site.folder, "key.pem") };
    await writeFile(tls.certFile, "no PEM");
    await writeFile(tls.keyFile, "no PEM");
    const other = await Site.make({ http: { port: 0, tls } });
    onTestFinished(() => other.end());
    const result = await other.cli("serve");
    expect(result.exitCode).toBe(1);
    expect(result.output).toContain(
      `dropgate cannot start: http.tls.certFile ${tls.certFile} holds no certificate that can be used (`,
    );
  });

  test("a port that is taken is refused by its number, and the state is free again", async () => {
    const other = await Site.make({ http: { port: site.sftpPort } });
    onTestFinished(() => other.end());
    const result = await other.cli("serve");
    expect(result.exitCode).toBe(1);
    expect(result.output).toContain(String(site.sftpPort));
    await other.configure({});
    await other.start();
  });
});

describe("SIGHUP", () => {
  test("takes what it can and says what needs a restart", async () => {
    await site.reconfigure({ http: { port: 1 }, inbound: { maxFileBytes: "1MB" } });
    const reloaded = await hup();
    expect(reloaded["settings"]).toEqual(["inbound.maxFileBytes"]);
    const waiting = site.daemon.log.find(({ msg }) => msg === "these settings need a restart");
    expect(waiting?.["settings"]).toEqual(["http.port"]);
    await site.reconfigure({ http: {}, inbound: {} });
    await hup();
  });

  test("changes the limits of stop files, without a restart", async () => {
    const long = (nbr: string) => stopFile(nbr, { more: `<!--${" ".repeat(3_000)}-->` });
    const two = (nbr: string) => ({
      name: fileName(nbr),
      content: stopsDocument([stopElement(nbr), stopElement(`${nbr}B`)]),
    });
    await site.reconfigure({ inbound: { maxFileBytes: "2kB", maxStops: 1 } });
    await hup();
    expect(codesOf(await send(site, long("R1")))).toEqual([909]);
    expect(codesOf(await send(site, two("R2")))).toEqual([909]);
    await site.reconfigure({ inbound: {} });
    await hup();
    expect(codesOf(await send(site, long("R3")))).toEqual([]);
    expect(codesOf(await send(site, two("R4")))).toEqual([]);
  });

  test("during the start does not end it, and is answered after it", async () => {
    const other = await Site.make();
    onTestFinished(() => other.end());
    const starting = other.start();
    await other.daemon.waitForLog(({ msg }) => msg === "http listening");
    other.daemon.process.kill("SIGHUP");
    await starting;
    await other.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
  });

  test("a faulty configuration changes nothing", async () => {
    const good = await readFile(site.configFile, "utf8");
    await writeFile(site.configFile, "http: [");
    expect(await hup()).toMatchObject({ level: "error" });
    await writeFile(site.configFile, good);
    expect(await send(site, stopFile("L110"))).toMatchObject({ status: 10 });
  });

  test("a company and a user that are added while the daemon runs can work at once", async () => {
    await site.mustRun("company", "add", "NEWCO");
    await site.addUser("newhost", ["DI_Integration"], "NEWCO");
    await writeLocally(site, [stopFile("L120")]);
    const name = fileName("L120");
    const options = { userName: "newhost", password: site.password };
    const result = await sftp(site, [`put ${name} inbound/${name}`], options);
    expect(result.exitCode, result.output).toBe(0);
    await waitFor("the stop of the new company", async () => {
      const reply = await http(site, "/v5/stop/info/L120/NEWCO", options);
      return reply.status === 200;
    });
    expect((await http(site, `/v5/stop/info/L120/${company}`)).status).toBe(404);
  });
});

describe("SIGTERM", () => {
  async function underWay(name: string): Promise<void> {
    await waitFor("the upload is under way", async () => {
      const parts = await readdir(site.path("inbound", ".partial"), { recursive: true });
      return parts.some((part) => part.endsWith(name));
    });
  }

  test("lets uploads under way come to their end, takes no new ones, and ends with 0", async () => {
    const files = Array.from({ length: 300 }, (_, index) => stopFile(`T${index}`));
    const big = stopFile("TBIG", { more: `<!-- ${randomBytes(1_500_000).toString("base64")} -->` });
    await writeLocally(site, [...files, big]);
    const small = sftp(
      site,
      files.map(({ name }) => `put ${name} inbound/${name}`),
    );
    const slow = sftp(site, [`put ${big.name} inbound/${big.name}`], { more: ["-l", "4000"] });
    await underWay(big.name);
    const run = site.daemon;
    await waitFor("files decided", () =>
      run.log.filter(({ msg }) => msg === "file decided").length > 20 ? true : undefined,
    );
    await site.stop();
    // The client is told good-bye after its upload, perhaps before it says so itself: what counts is the answered close.
    await slow;
    const uploaded = run.log.some(({ msg, file }) => msg === "uploaded" && file === `/inbound/${big.name}`);
    expect(uploaded).toBe(true);
    const answered = (await small).output.match(/Uploading t\d+/g)?.length ?? 0;
    expect(answered).toBeLessThan(files.length);

    await site.start();
    const applied = await waitFor("nothing waits", async () => {
      if ((await waitingIn(site)).length > 0) return undefined;
      return (await site.json<{ name: string; state: string }[]>("files", "--limit", "5000")).filter(
        ({ name }) => /^t\d+_/.test(name),
      );
    });
    expect(applied.every(({ state }) => state === "applied")).toBe(true);
    // The client names each before it sends it: all but the last two it named were answered.
    expect(applied.length).toBeGreaterThanOrEqual(Math.min(answered - 2, files.length));
    expect(await receiptFor(site, big.name)).toMatchObject({ status: 10 });
  });

  test("cuts an upload that lasts longer than the drain; it is no file and can be resumed", async () => {
    await site.stop();
    await site.reconfigure({ shutdown: { drainMs: 2_000 } });
    await site.start();
    const big = stopFile("TCUT", { more: `<!-- ${randomBytes(3_000_000).toString("base64")} -->` });
    await writeLocally(site, [big]);
    const slow = sftp(site, [`put ${big.name} inbound/${big.name}`], { more: ["-l", "4000"] });
    await underWay(big.name);
    await site.stop();
    expect((await slow).exitCode).not.toBe(0);

    await site.reconfigure({ shutdown: {} });
    await site.start();
    expect((await http(site, `/v5/stop/info/TCUT/${company}`)).status).toBe(404);
    const again = await sftp(site, [`reput ${big.name} inbound/${big.name}`]);
    expect(again.exitCode, again.output).toBe(0);
    expect(await receiptFor(site, big.name)).toMatchObject({ status: 10 });
    const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
    expect(report.discrepancies).toEqual([]);
  });

  test("waits for a request in hand; a second signal ends it at once, with 1", async () => {
    const document = stopElement("L200");
    const head = [
      `POST /api/stop/${company} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Basic ${Buffer.from(`host:${site.password}`).toString("base64")}`,
      "Content-Type: application/xml",
      `Content-Length: ${document.length}`,
    ];
    const { port } = new URL(site.http);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`${head.join("\r\n")}\r\n\r\n${document.slice(0, 20)}`);
    await http(site, `/v5/stop/info/L200/${company}`);
    site.daemon.process.kill("SIGTERM");
    await site.daemon.waitForLog(({ msg }) => msg === "stopping");
    const isClosed = () =>
      fetch(`${site.http}/healthz`).then(
        () => false,
        () => true,
      );
    await waitFor("nobody is let in any more", isClosed);
    expect(site.daemon.exitCode).toBeUndefined();
    site.daemon.process.kill("SIGTERM");
    expect(await site.daemon.exit).toBe(1);
    expect(site.daemon.log.some(({ msg }) => msg.startsWith("second signal"))).toBe(true);
    socket.destroy();
    await site.start();
    expect((await http(site, `/v5/stop/info/L200/${company}`)).status).toBe(404);
  });

  test("an idle client does not hold up the stop", async () => {
    await site.reconfigure({ shutdown: { drainMs: 170_000 } });
    await site.stop();
    await site.start();
    const idle = await holdSession();
    const began = performance.now();
    await site.stop();
    expect(performance.now() - began).toBeLessThan(100_000);
    idle.kill("SIGKILL");
    await site.start();
  });

  /** An `sftp` that has signed in and waits for commands. */
  async function holdSession(): Promise<ChildProcess> {
    const seen = site.daemon.log.length;
    const args = [
      "-q",
      "-F",
      "none",
      "-i",
      site.keyFile,
      "-o",
      "BatchMode=yes",
      "-o",
      "StrictHostKeyChecking=no",
    ];
    const known = ["-o", `UserKnownHostsFile=${site.knownHostsFile}`, "-P", String(site.sftpPort)];
    const child = spawn("sftp", [...args, ...known, "host@127.0.0.1"], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    await waitFor("signed in", () => site.daemon.log.slice(seen).some(({ msg }) => msg === "sftp signed in"));
    return child;
  }
});

describe("the log", () => {
  test("has one JSON line an event and no secret, at level debug and with sign-ins of every kind", async () => {
    await sftp(site, ["pwd"], { password: site.password });
    await sftp(site, ["pwd"], { password: `${site.password}-wrong` });
    await http(site, `/v5/stop/info/X/${company}`, { password: `${site.password}-wrong` });
    await http(site, `/api/stop/${company}`, { body: stopElement("L300"), type: "application/xml" });
    await put(site, stopFile("L301"));
    const lines = site.daemon.text.trim().split("\n");
    for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
    expect(lines.length).toBeGreaterThan(10);
    site.assertNoSecrets();
  });
});

describe("systemd", () => {
  let other: Site;

  beforeAll(async () => {
    other = await Site.make();
  });
  afterAll(() => other.end());

  test("is told READY=1, WATCHDOG=1 again and again, and STOPPING=1", async () => {
    const systemd = await makeToldSystemd(other.folder);
    const daemon = await other.start({ env: { ...systemd.env, WATCHDOG_USEC: "2000000" } });
    await waitFor("READY=1 and two beats", async () => {
      const lines = await systemd.told();
      return (
        lines.some((line) => line.includes("READY=1")) &&
        lines.filter((line) => line.includes("WATCHDOG=1")).length > 1
      );
    });
    await other.stop();
    const lines = await systemd.told();
    for (const line of lines) expect(line).toContain(`--pid=${daemon.pid}`);
    expect(lines[0]).toContain("READY=1");
    expect(lines.at(-1)).toContain("STOPPING=1");
  });

  /** A datagram socket of the local kind, which Node itself has not got. */
  const listener = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(s.recv(4096).decode().replace("\\n", " "), flush=True)
`;

  test.skipIf(!isInstalled("systemd-notify") || !isInstalled("python3"))(
    "hears it through its own program over the socket of a service of Type=notify",
    async () => {
      const socket = join(other.folder, "real.socket");
      let heard = "";
      const receiver = spawn("python3", ["-c", listener, socket], { stdio: ["ignore", "pipe", "inherit"] });
      receiver.stdout.setEncoding("utf8").on("data", (text: string) => {
        heard += text;
      });
      try {
        await waitFor("the socket", () => heard.includes("bound"));
        await other.start({ env: { NOTIFY_SOCKET: socket } });
        await waitFor("READY=1", () => heard.includes("READY=1"));
        await other.stop();
        await waitFor("STOPPING=1", () => heard.includes("STOPPING=1"));
      } finally {
        receiver.kill("SIGKILL");
      }
    },
  );
});
