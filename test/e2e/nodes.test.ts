/** Several daemons that have one state directory and one database of PostgreSQL. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sftp } from "../support/clients.ts";
import { signInToConsole } from "../support/console.ts";
import { company, DaemonRun, lenient, oneParser, program, type Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";
import { journaledName, journaledStops, plantFormerJournal } from "../support/former-journal.ts";
import { nameNode, TestNode } from "../support/node-of-site.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { runProgram } from "../support/run-program.ts";
import { makePostgresSite } from "../support/postgres-site.ts";

/** The host keys are those of the site; a client knows them by one port only. */
const atPort = (port: number) => ["-P", String(port), "-o", "StrictHostKeyChecking=no"];

const targets = {
  outbound: { type: "folder" },
  away: { type: "https", url: "http://127.0.0.1:1/", allowPlain: true, completions: "none" },
};
const exports = { nightly: { schedule: "0 3 * * *", target: "away" } };

let server: PostgresServer;
let site: Site;
let two: TestNode;

beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPostgres();
  site = await makePostgresSite(await server.makeDatabase("nodes"), {
    ...{ security: lenient, inbound: oneParser },
    cluster: { node: "one", leaseMs: 8_000 },
    companies: { [company]: { outbound: { targets, exports } } },
  });
  plantFormerJournal(site.stateDir);
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

  it("are listed; one that is drained gives its companies away and is not ready until it is resumed", async () => {
    interface Listed {
      readonly node: string;
      readonly state: string;
      readonly companies: number;
    }
    const nodes = () => site.json<readonly Listed[]>("nodes");
    const hasDrained = async () => {
      const [one, second] = await nodes();
      return one?.companies === 0 && second?.companies === 1;
    };
    expect((await nodes()).map(({ node, state }) => [node, state])).toEqual([
      ["one", "working"],
      ["two", "working"],
    ]);
    expect(await site.mustRun("nodes")).toMatch(/^one\s+working\s+[01]\s+\d.*http \S+:\d+/m);
    expect(await site.mustRun("nodes", "drain", "one")).toContain("gives its companies");
    await waitFor("one to be drained", hasDrained);
    expect(await nodes()).toMatchObject([{ node: "one", state: "draining" }, { state: "working" }]);
    const ready = await fetch(`${site.http}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      expect.stringContaining("the node one gives its companies away"),
    ]);
    await waitFor("two to be ready", async () => (await fetch(`${two.http}/readyz`)).status === 200);
    await waitFor("two to have all", async () => {
      const metrics = await (await fetch(`${two.http}/metrics`)).text();
      return (
        metrics.includes('dropgate_node_lanes{stage="working"} 2\n') && metrics.includes("dropgate_nodes 2\n")
      );
    });
    expect(await site.mustRun("nodes", "resume", "one")).toContain("takes its share");
    await waitFor("one to be ready", async () => (await fetch(`${site.http}/readyz`)).status === 200);
    const unknown = await site.cli("nodes", "drain", "six");
    expect(unknown).toMatchObject({ exitCode: 2, output: expect.stringContaining("there is no node six") });
  });

  it("stand on the page of health, each with the companies that it has", async () => {
    const operator = await signInToConsole(site, "operator");
    const hasCompany = (row: string | undefined) => row?.includes(`1: ${company}`) === true;
    const rowsOfPage = async () => {
      const { status, body } = await operator.get("/console/health");
      expect(status).toBe(200);
      const [, section = ""] = /<section id="nodes">([\s\S]*?)<\/section>/.exec(body) ?? [];
      const rows = section.match(/<tr[\s\S]*?<\/tr>/g)?.map((row) => row.replaceAll(/<[^>]+>/g, " ")) ?? [];
      const found = [
        rows.find((row) => /\bone\b/.test(row)),
        rows.find((row) => /\btwo\b/.test(row)),
      ] as const;
      // A node whose tree is late by half a lease is away until it answers.
      const isSettled = found.every((row) => row?.includes("works")) && found.some(hasCompany);
      return isSettled ? found : undefined;
    };
    const [one, second] = await waitFor("both to work", rowsOfPage);
    expect(one).toContain("this page is from here");
    expect(second).not.toContain("this page is from here");
    expect([one, second].filter(hasCompany)).toHaveLength(1);
  });

  it("are checked for having the same tree, and for what its file system does", async () => {
    const good = await site.cli("check");
    expect(good.output).toContain(
      `links, renames, syncs and locks in ${site.stateDir} do what nodes rely on`,
    );
    for (const what of ["state directory", "configuration"])
      expect(good.output).toContain(`all nodes (one, two) have this ${what}`);
    expect((await readdir(join(site.stateDir, "nodes"))).toSorted()).toEqual(["one", "two"]);
    const token = join(site.stateDir, "nodes", "two", "tree-token");
    const text = await readFile(token, "utf8");
    await writeFile(token, "of an earlier start\n");
    const bad = await site.cli("check");
    await writeFile(token, text);
    expect(bad.exitCode).toBe(2);
    expect(bad.output).toContain("what the nodes two have written is not in");
  });

  it("leave the files of an export alone that another one has still to deliver", async () => {
    const spooled = async () => {
      const names = ["one", "two"].map(
        async (node) => await readdir(join(site.stateDir, "nodes", node, "exports")),
      );
      return await Promise.all(names);
    };
    expect(await site.mustRun("export", "--name", "nightly")).toContain("nightly");
    await waitFor("one of them to try it", async () => (await spooled()).flat().length > 0);
    const before = await spooled();
    const holder = before.findIndex((names) => names.length > 0);
    // The other one begins anew, as after a crash.
    if (holder === 0) {
      await two.kill();
      await two.again();
    } else {
      await site.stop();
      await site.start();
    }
    expect((await spooled())[holder]).toEqual(before[holder]);
  });

  it("take a journal of uploads of an earlier version up once", async () => {
    const names = (await site.json<readonly { readonly name: string }[]>("files")).map(({ name }) => name);
    const journaled = names.filter((name) => journaledStops.some((stop) => name === journaledName(stop)));
    expect(journaled.toSorted()).toEqual(journaledStops.map(journaledName).toSorted());
    expect(existsSync(join(site.stateDir, "journal"))).toBe(false);
  });

  it("are found by commands, also by those of a node that does not run", async () => {
    const three = await nameNode(site, "three");
    for (const configFile of [site.configFile, two.configFile, three]) {
      const { output } = await runProgram(program, ["target", "resume", "outbound", "--config", configFile]);
      expect(output).toContain("One of the nodes one, two does it within a second.");
    }
  });
});
