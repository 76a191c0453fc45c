/** The shipped configuration of HAProxy before two daemons, and the clients that hosts use. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BalancedSites,
  balancerFile,
  environmentOf,
  hasBalancer,
  startBalancedSites,
} from "../support/balanced-sites.ts";
import { sftp } from "../support/clients.ts";
import { company, type LogLine, type Site, user } from "../support/daemon.ts";
import { curlFtp, type FtpMode, lftpFtp } from "../support/ftp-clients.ts";
import { runProgram } from "../support/run-program.ts";
import { freePort, startServer } from "../support/server-process.ts";
import { type StopFile, stopFile, writeLocally } from "../support/stop-files.ts";
import { itOnSqlite } from "../support/store-dialect.ts";
import { waitFor } from "../support/wait-for.ts";

const bans = { maxScore: 4, banMs: 600_000, windowMs: 600_000 };
let balanced: BalancedSites;

beforeAll(async () => {
  if (hasBalancer) balanced = await startBalancedSites({ security: { wrongPasswordDelayMs: 0, bans } });
});
afterAll(() => balanced?.end());

const address = (last: number) => `127.0.0.${last}`;
const balancer = address(1);

function put(site: Site, file: StopFile, last: number, password?: string) {
  const more = ["-o", `BindAddress=${address(last)}`];
  const options = password === undefined ? { more } : { more, password };
  return sftp(site, [`put ${file.name} /inbound/${file.name}`], options);
}

interface Asked {
  readonly userName?: string;
  readonly password?: string;
  readonly path?: string;
  readonly host?: string;
  readonly port?: number;
  /** Where another port than `port` leads to it. */
  readonly through?: number;
  readonly more?: readonly string[];
}

/** curl to the web service, from an address, at the balancer unless another host is named. */
async function ask(last: number, asked: Asked = {}): Promise<string> {
  const { sites, certificate, ports } = balanced;
  const {
    password = sites[0].password,
    host = balancer,
    port = ports.https,
    through = port,
    more = [],
  } = asked;
  const { userName = user, path = `/v5/stop/info/NONE/${company}` } = asked;
  const { stdout, exitCode } = await runProgram("curl", [
    ...["-sS", "--max-time", "30", "--interface", address(last), "--cacert", certificate.certFile],
    ...["--connect-to", `localhost:${port}:${host}:${through}`, ...more],
    ...["--user", `${userName}:${password}`, "-o", "/dev/null", "-w", "%{http_code}"],
    `https://localhost:${port}${path}`,
  ]);
  return exitCode === 0 ? stdout : `curl ended with ${exitCode}`;
}

/** Guessers try a user of their own: one that is guessed at from many addresses is slowed for strangers. */
const guessed = (password: string | undefined) =>
  password === undefined ? {} : { password, userName: `user-${password.length}` };

async function signsInOverHttp(last: number, password?: string): Promise<boolean> {
  return (await ask(last, guessed(password))) === "404";
}

async function signsInOverSftp(last: number, password?: string): Promise<boolean> {
  const { exitCode } = await sftp(balanced.sites[0], ["ls /"], {
    more: ["-o", `BindAddress=${address(last)}`],
    ...guessed(password),
  });
  return exitCode === 0;
}

async function signsInOverFtp(last: number, password?: string): Promise<boolean> {
  const { certFile } = balanced.certificate;
  const options = { certFile, mode: "explicit", ...guessed(password) } as const;
  return (await curlFtp(balanced.sites[0], "/", ["--interface", address(last)], options)).exitCode === 0;
}

function linesOf({ log }: Site, fields: Partial<LogLine>): LogLine[] {
  return log.filter((line) => Object.entries(fields).every(([name, value]) => line[name] === value));
}

/** The lines of both nodes. */
function linesWith(fields: Partial<LogLine>): LogLine[] {
  return balanced.sites.flatMap((site) => linesOf(site, fields));
}

/** The node that has a line with these fields. */
async function nodeWith(fields: Partial<LogLine>): Promise<Site> {
  return await waitFor(JSON.stringify(fields), () =>
    balanced.sites.find((site) => linesOf(site, fields).length > 0),
  );
}

/** How many lines a node has with these fields, as soon as it has one: an answer may come before the line that tells of it. */
async function countOn(site: Site, fields: Partial<LogLine>): Promise<number> {
  return await waitFor(JSON.stringify(fields), () => linesOf(site, fields).length || undefined);
}

/** Notes that an older database was restored: until it is verified the node works and is not ready. */
function noteRestored({ stateDir }: Site): void {
  const database = new BetterSqlite(join(stateDir, "dropgate.db"));
  try {
    database.prepare("insert into meta (key, value) values ('restored', '{}')").run();
  } finally {
    database.close();
  }
}

/** Big enough to be on its way for some seconds. */
function bigFile(stopNbr: string): StopFile {
  return stopFile(stopNbr, { more: `<!-- ${randomBytes(2_000_000).toString("base64")} -->` });
}

describe.runIf(hasBalancer)("behind HAProxy", () => {
  test("the shipped file is valid as it stands", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-haproxy-"));
    const { exitCode, output } = await runProgram("haproxy", ["-c", "-f", balancerFile]);
    expect(exitCode, output).toBe(0);
    expect(output).not.toMatch(/WARNING|ALERT/);
    const env = [...environmentOf(balanced.ports, folder), "haproxy", "-c", "-f", balancerFile];
    expect((await runProgram("env", env)).exitCode).toBe(0);
    await rm(folder, { recursive: true });
  });

  test("both nodes are well, as their /readyz tells", async () => {
    for (const section of ["sftp", "ftp", "ftps", "https", "console"])
      for (const node of ["node1", "node2"])
        await waitFor(
          `${section}/${node}`,
          async () => (await balanced.stateOf(`${section}/${node}`)) === "UP",
        );
  });

  test("a file over SFTP is of the client's address", async () => {
    const [site] = balanced.sites;
    const file = stopFile("PSFTP");
    await writeLocally(site, [file]);
    const { exitCode, output } = await put(site, file, 20);
    expect(exitCode, output).toBe(0);
    await nodeWith({ msg: "sftp signed in", address: address(20) });
  });

  test.each<[FtpMode, string]>([
    ["plain", "curl"],
    ["explicit", "curl"],
    ["implicit", "curl"],
    ["explicit", "lftp"],
    ["implicit", "lftp"],
  ])(
    "a file over FTP, %s TLS, by %s, comes with its data connection through the balancer",
    async (mode, program) => {
      const [site] = balanced.sites;
      const { certFile } = balanced.certificate;
      const last = { plain: 30, explicit: 31, implicit: 32 }[mode] + (program === "curl" ? 0 : 10);
      const file = stopFile(`P${mode.slice(0, 2)}${program}`);
      await writeLocally(site, [file]);
      const bound = [`set net:socket-bind-ipv4 ${address(last)}`, "set ftp:prefer-epsv yes"];
      const { exitCode, output } =
        program === "curl"
          ? await curlFtp(site, `/inbound/${file.name}`, ["-T", file.name, "--interface", address(last)], {
              certFile,
              mode,
            })
          : await lftpFtp(site, [...bound, `put ${file.name} -o /inbound/${file.name}`], { certFile, mode });
      expect(exitCode, output).toBe(0);
      const node = await nodeWith({ msg: "ftp signed in", address: address(last) });
      expect(node.log.filter(({ msg }) => msg.startsWith("ftp data connection from another"))).toEqual([]);
    },
  );

  test("data connections came through the balancer", async () => {
    const counts = await Promise.all(["ftp-data-1", "ftp-data-2"].map((name) => balanced.sessionsOf(name)));
    expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(5);
  });

  test("requests and pages are of the client's address", async () => {
    expect(await ask(50)).toBe("404");
    await nodeWith({ address: address(50), status: 404 });
    expect(await ask(51, { port: balanced.ports.console, path: "/console/missing" })).toBe("404");
    await nodeWith({ address: address(51), status: 404 });
  });

  test("who may read the metrics is told by the client's address, which is loopback here", async () => {
    expect(await ask(52, { path: "/metrics" })).toBe("200");
  });
});

describe.runIf(hasBalancer)("wrong passwords through the balancer", () => {
  const banned = "address banned after too many failed sign-ins";

  test.each<[string, number, (last: number, password?: string) => Promise<boolean>]>([
    ["SFTP", 60, signsInOverSftp],
    ["FTP", 80, signsInOverFtp],
    ["HTTP", 100, signsInOverHttp],
  ])("over %s ban the client's address, and nobody else's on the node", async (_protocol, last, signsIn) => {
    for (let guess = 0; guess < bans.maxScore; guess += 1)
      expect(await signsIn(last, "x".repeat(last + guess))).toBe(false);
    const node = await nodeWith({ msg: banned, address: address(last) });
    expect(await signsIn(last)).toBe(false);
    const others = Array.from({ length: 8 }, (_, index) => last + 1 + index);
    for (const other of others) expect(await signsIn(other)).toBe(true);
    const served = (other: number) => node.log.some((line) => line["address"] === address(other));
    // One of them at least was on the same node.
    expect(others.some(served)).toBe(true);
    expect(linesWith({ msg: banned, address: balancer })).toEqual([]);
  });
});

describe.runIf(hasBalancer)("without the balancer", () => {
  test("clients of other addresses are served, and their PROXY headers are not taken", async () => {
    expect(await ask(120, { host: address(11) })).toBe("404");
    expect(await ask(121, { host: address(11), more: ["--haproxy-protocol"] })).toContain("curl ended with");
    expect(linesWith({ address: address(121), status: 404 })).toEqual([]);
  });

  test("the address of the balancer is served with a header of version 1, and closed without, in words", async () => {
    const asked = { host: address(11), more: ["--haproxy-protocol"] };
    expect(await ask(1, asked)).toBe("404");
    expect(await ask(1, { host: address(11) })).toContain("curl ended with");
    await nodeWith({
      msg: "http connection from a balancer closed",
      address: balancer,
      setting: "http.proxyProtocolFrom",
      reason: "the PROXY header is missing: the connection begins with other bytes",
    });
  });
});

describe.runIf(hasBalancer)("a node that", () => {
  /** An address whose connections go to the node, and one that the other node serves. */
  async function addressOn(node: Site): Promise<number> {
    for (let last = 130; last < 180; last += 1) {
      expect(await ask(last)).toBe("404");
      if ((await nodeWith({ address: address(last) })) === node) return last;
    }
    throw new Error("no address leads to the node");
  }

  async function isUp(number: 1 | 2): Promise<boolean> {
    const sections = ["sftp", "ftp", "ftps", "https", "console"];
    const states = await Promise.all(sections.map((name) => balanced.stateOf(`${name}/node${number}`)));
    return states.every((state) => state === "UP");
  }

  itOnSqlite("is not ready gets no new connections, and what runs comes to its end", async () => {
    const [first, second] = balanced.sites;
    const last = await addressOn(first);
    const [large, small] = [bigFile("PDRAIN"), stopFile("PDRAINED")];
    await writeLocally(first, [large, small]);
    const more = ["-l", "4000", "-o", `BindAddress=${address(last)}`];
    const upload = sftp(first, [`put ${large.name} /inbound/${large.name}`], { more });
    await nodeWith({ msg: "sftp signed in", address: address(last) });
    noteRestored(first);
    await waitFor("the node is down", async () => (await balanced.stateOf("sftp/node1")).startsWith("DOWN"));
    const after = await put(first, small, last);
    expect(after.exitCode, after.output).toBe(0);
    expect(await countOn(second, { msg: "sftp signed in", address: address(last) })).toBe(1);
    const { exitCode, output } = await upload;
    expect(exitCode, output).toBe(0);
    expect(linesOf(first, { msg: "sftp signed in", address: address(last) })).toHaveLength(1);
    await first.mustRun("ledger", "verify");
    await waitFor("the node is back", () => isUp(1));
  });

  test("dies is passed over at once", async () => {
    const [first, second] = balanced.sites;
    const last = await addressOn(second);
    await second.kill();
    const file = stopFile("PKILLED");
    await writeLocally(first, [file]);
    const { exitCode, output } = await put(first, file, last);
    expect(exitCode, output).toBe(0);
    expect(await countOn(first, { msg: "sftp signed in", address: address(last) })).toBe(1);
    await second.start();
    await waitFor("the node is back", () => isUp(2));
  });

  test("freezes is passed over after two checks", async () => {
    const [first, second] = balanced.sites;
    const last = await addressOn(second);
    second.daemon.process.kill("SIGSTOP");
    try {
      await waitFor("the node is down", async () =>
        (await balanced.stateOf("https/node2")).startsWith("DOWN"),
      );
      expect(await ask(last)).toBe("404");
      expect(await countOn(first, { address: address(last), status: 404 })).toBe(1);
    } finally {
      second.daemon.process.kill("SIGCONT");
    }
    await waitFor("the node is back", () => isUp(2));
  });
});

describe.runIf(hasBalancer)("headers of HAProxy", () => {
  test.each([
    ["version 1", "127.0.0.1", "send-proxy", "127.0.0.190"],
    ["version 2 with a checksum", "127.0.0.1", "send-proxy-v2 proxy-v2-options crc32c", "127.0.0.191"],
    [
      "version 2 with all additions",
      "127.0.0.1",
      "send-proxy-v2 proxy-v2-options crc32c,ssl,authority,unique-id",
      "127.0.0.192",
    ],
    ["version 2 over IPv6", "[::1]", "send-proxy-v2 proxy-v2-options crc32c", "::1"],
  ])("of %s name the client", async (_what, host, options, from) => {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-haproxy-"));
    const [port, file] = [await freePort(), join(folder, "haproxy.cfg")];
    const times = ["timeout connect 5s", "timeout client 60s", "timeout server 60s"];
    const lines = ["listen in", "mode tcp", ...times, `bind ${host}:${port}`, "unique-id-format %[uuid()]"];
    await writeFile(
      file,
      `${[...lines, `server node ${address(11)}:${balanced.ports.https} ${options}`].join("\n")}\n`,
    );
    const haproxy = await startServer(
      "haproxy",
      ["-db", "-f", file],
      port,
      host === "[::1]" ? "::1" : undefined,
    );
    try {
      const interfaces = host === "[::1]" ? ["--interface", "::1"] : ["--interface", from];
      expect(await ask(1, { host, through: port, more: interfaces })).toBe("404");
      await nodeWith({ address: from, status: 404 });
    } finally {
      await haproxy.end();
      await rm(folder, { recursive: true });
    }
  });
});

test.runIf(hasBalancer)("the checks of the balancer are no faults, and count for no address", () => {
  const lines = linesWith({ address: balancer });
  const closed = lines.filter(({ msg, level }) => msg.endsWith("from a balancer closed") && level === "warn");
  expect(closed).toHaveLength(1);
  expect(lines.filter(({ msg }) => msg.includes("refused") || msg.includes("dropped"))).toEqual([]);
});
