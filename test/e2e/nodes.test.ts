/** Several daemons that have one state directory and one database of PostgreSQL. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { company, DaemonRun, lenient, oneParser, program, type Site } from "../support/daemon.ts";
import { nameNode, TestNode } from "../support/node-of-site.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { runProgram } from "../support/run-program.ts";
import { makePostgresSite } from "../support/postgres-site.ts";

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

  it("are found by commands, also by those of a node that does not run", async () => {
    const three = await nameNode(site, "three");
    for (const configFile of [site.configFile, two.configFile, three]) {
      const { output } = await runProgram(program, ["target", "resume", "outbound", "--config", configFile]);
      expect(output).toContain("One of the nodes one, two does it within a second.");
    }
  });
});
