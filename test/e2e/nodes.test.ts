/** Several daemons that have one state directory and one database of PostgreSQL. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sftp } from "../support/clients.ts";
import { company, DaemonRun, lenient, oneParser, program, type Site } from "../support/daemon.ts";
import { nameNode, TestNode } from "../support/node-of-site.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { runProgram } from "../support/run-program.ts";
import { makePostgresSite } from "../support/postgres-site.ts";

/** The host keys are those of the site; a client knows them by one port only. */
const atPort = (port: number) => ["-P", String(port), "-o", "StrictHostKeyChecking=no"];

let server: PostgresServer;
let site: Site;
let two: TestNode;

beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  site = await makePostgresSite(await server.makeDatabase("nodes"), {
    ...{ security: lenient, inbound: oneParser },
    cluster: { node: "one", leaseMs: 2_000 },
    companies: { [company]: { outbound: { targets: { outbound: { type: "folder" } } } } },
  });
  await site.start();
  two = await TestNode.start(site, "two");
});
afterAll(async () => {
  if (!hasPostgres) return;
  await two.stop();
  await site.end();
  server.stop();
});

describe.runIf(hasPostgres)("two daemons on one state directory", () => {
  it("have each a directory of its own, and nothing of one process in that which they share", () => {
    for (const node of ["one", "two"])
      for (const name of ["dropgate.lock", "dropgate.pid", "dropgate.incarnation"])
        expect(existsSync(join(site.stateDir, "nodes", node, name)), `${node}/${name}`).toBe(true);
    for (const name of ["dropgate.lock", "dropgate.pid"])
      expect(existsSync(join(site.stateDir, name)), name).toBe(false);
  });

  it("do not start with the directory of another one, and say what to do", async () => {
    const run = new DaemonRun(two.configFile, {});
    expect(await run.exit).toBe(1);
    expect(run.text).toMatch(
      new RegExp(`nodes/two is in use by process ${two.run.pid}: give each node a name of its own`),
    );
  });

  it("give an upload that is continued on both at once to one of them, and never mix their bytes", async () => {
    await writeFile(join(site.client, "begin"), "x".repeat(2_000_000));
    for (let round = 0; round < 4; round += 1) {
      const name = `HALF${round}.part`;
      expect((await sftp(site, [`put begin inbound/${name}`])).exitCode).toBe(0);
      const contents = ["1", "2"].map((digit) => "x".repeat(2_000_000) + digit.repeat(3_000_000));
      for (const [at, content] of contents.entries())
        await writeFile(join(site.client, `whole-${at}`), content);
      const tries = await Promise.all(
        [site.sftpPort, two.sftpPort].map((port, at) =>
          sftp(site, [`reput whole-${at} inbound/${name}`], { more: atPort(port) }),
        ),
      );
      const [user = ""] = await readdir(site.path("inbound", ".partial"));
      const part = await readFile(site.path("inbound", ".partial", user, name), "utf8");
      const isOf = contents.map((content) => content === part);
      expect(isOf, tries.map(({ output }) => output).join("")).toContain(true);
      expect(tries[isOf.indexOf(true)]?.exitCode).toBe(0);
    }
  });

  it("are found by commands, also by those of a node that does not run", async () => {
    const three = await nameNode(site, "three");
    for (const configFile of [site.configFile, two.configFile, three]) {
      const { output } = await runProgram(program, ["target", "resume", "outbound", "--config", configFile]);
      expect(output).toContain("One of the nodes one, two does it within a second.");
    }
  });
});
