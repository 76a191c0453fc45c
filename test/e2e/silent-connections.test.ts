/** Connections of which nobody signs in take no place from those that do: on each server, with the limits as they are by default. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import ssh2 from "ssh2";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { curl, http, sftp } from "../support/clients.ts";
import { company, Site, user } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";

const detail = `/v5/stop/info/NONE/${company}`;
/** 13 addresses with 40 connections each: more than all servers had places in all, and each under the limit of an address. */
const addresses = Array.from({ length: 13 }, (_, index) => `127.0.1.${index + 1}`);
const eachAddress = 40;

let site: Site;
let ports: Readonly<Record<"sftp" | "ftp" | "http", number>>;
let silent: Socket[] = [];

beforeAll(async () => {
  site = await Site.make({
    ftp: { enabled: true, port: 0, allowPlain: true },
    sftp: { port: 0, loginTimeoutMs: 600_000 },
    http: { port: 0, headersTimeoutMs: 60_000 },
  });
  await site.start();
  ports = { sftp: site.sftpPort, ftp: site.ftpPort, http: Number(new URL(site.http).port) };
});
afterAll(() => site.end());
afterEach(() => {
  for (const socket of silent) socket.destroy();
  silent = [];
});

async function openSilent(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  socket.resume();
  silent.push(socket);
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

async function flood(port: number): Promise<void> {
  for (let round = 0; round < eachAddress; round += 1) {
    await Promise.all(addresses.map((address) => openSilent(port, address)));
  }
}

const standing = () => silent.filter(({ destroyed, readyState }) => !destroyed && readyState === "open");

function curlFtp() {
  return curl(site, ["--list-only", `ftp://127.0.0.1:${ports.ftp}/inbound/`]);
}

/** Signs in over SFTP with the password; resolves when it is done, and keeps the connection open. */
async function signedInOverSftp(localAddress: string): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  const ready = once(client, "ready");
  client.on("error", () => undefined);
  client.connect({
    ...{ host: "127.0.0.1", port: ports.sftp, username: user, password: site.password, localAddress },
    readyTimeout: 120_000,
  });
  await ready;
  return client;
}

describe("520 silent connections of 13 addresses", () => {
  test("to the SFTP server shut out no host, and end no connection that is signed in", async () => {
    const before = await signedInOverSftp("127.0.1.1");
    await flood(ports.sftp);
    const result = await sftp(site, ["pwd"]);
    expect(result.exitCode, result.output).toBe(0);
    expect((await sftp(site, ["pwd"], { password: site.password })).exitCode).toBe(0);
    await waitFor("the pool at its size", () => standing().length <= 200);
    expect(standing().length).toBeGreaterThan(150);
    const listing = new Promise((resolve, reject) =>
      before.sftp((error, wrapper) =>
        error ? reject(error) : wrapper.readdir("/", (_, list) => resolve(list)),
      ),
    );
    expect(await listing).toContainEqual(expect.objectContaining({ filename: "inbound" }));
    before.end();
  });

  test("to the FTP server shut out no host", async () => {
    await flood(ports.ftp);
    const result = await curlFtp();
    expect(result.exitCode, result.output).toBe(0);
    await waitFor("the pool at its size", () => standing().length <= 200);
  });

  test("to the HTTP server shut out no host, and end no connection on which somebody has signed in", async () => {
    const headers = `Host: x\r\nAuthorization: Basic ${Buffer.from(`${user}:${site.password}`).toString("base64")}`;
    const kept = await openSilent(ports.http, "127.0.1.1");
    const ask = async () => {
      kept.write(`GET ${detail} HTTP/1.1\r\n${headers}\r\n\r\n`);
      const [chunk] = (await once(kept, "data")) as [Buffer];
      return chunk.toString();
    };
    expect(await ask()).toMatch(/^HTTP\/1.1 404 /);
    await flood(ports.http);
    expect((await http(site, detail)).status).toBe(404);
    await waitFor("the pool at its size", () => standing().length <= 201);
    expect(await ask()).toMatch(/^HTTP\/1.1 404 /);
  });
});

describe("a hundred connections of one address that come at once", () => {
  async function burst(localAddress: string): Promise<void> {
    const clients = await Promise.all(Array.from({ length: 100 }, () => signedInOverSftp(localAddress)));
    for (const client of clients) client.end();
  }

  test("are all served", () => burst("127.0.2.1"), 120_000);

  test("are all served also during a flood of others, when the address has signed in before", async () => {
    await flood(ports.sftp);
    await burst("127.0.2.1");
  });
});

test("what was refused and dropped is a few lines in the log", () => {
  const lines = site.daemon.log.filter(({ msg }) => /connection (refused|dropped)/.test(msg));
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.length).toBeLessThan(100);
});
