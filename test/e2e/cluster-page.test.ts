/**
 * docs/cluster.md, followed on servers in temporary folders: two nodes at 127.0.0.11 and 127.0.0.12 with one state directory,
 * HAProxy at 127.0.0.1 with the file that is shipped, and a real server of PostgreSQL. A line `# on …` says where the lines
 * behind it are typed.
 */
import { copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { balancerFile, environmentOf, freePorts, hasBalancer } from "../support/balanced-sites.ts";
import { leftOut as needsPackages, MappedServer } from "../support/mapped-server.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import type { ProgramResult } from "../support/run-program.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { waitFor } from "../support/wait-for.ts";
import { followPage, isAsShown, type Shown } from "../support/server-pages.ts";
import { startTlsPostgres, type TlsPostgres } from "../support/tls-postgres.ts";

const page = "docs/cluster.md";
const isPossible = hasPostgres && hasBalancer;
const documentedAddress = "postgres://dropgate:PASSWORD@10.0.0.3:5432/dropgate";
const addresses = [
  ["10.0.0.11", "127.0.0.11"],
  ["10.0.0.12", "127.0.0.12"],
  ["10.0.0.4", "127.0.0.1"],
] as const;

/** What needs machines, and a network between them. */
const leftOut: readonly RegExp[] = [
  ...needsPackages.map(([form]) => form),
  /^(?:runuser|groupadd|useradd|exportfs|mount|chown) /,
  / >> \/etc\/(?:postgresql|exports|fstab)/,
  /^systemctl restart postgresql$/,
  /^mkdir -p \/var\/lib\/dropgate$/,
  /^install .* \/srv\/dropgate$/,
  /^apt /,
];

let postgres: TlsPostgres;
let database: string;
type Gate = "gate-1" | "gate-2";
let gates: Readonly<Record<Gate, MappedServer>>;
let balancer: MappedServer;
let haproxy: ServerProcess | undefined;

const nothing: ProgramResult = { exitCode: 0, stdout: "", output: "" };

/** Where the lines that come are typed. */
let places: readonly string[] = [];
let isCopied = false;
/** Where the company goes by the last command that moves it. */
let goesTo: Gate = "gate-2";

beforeAll(async () => {
  if (!isPossible) return;
  postgres = await startTlsPostgres();
  database = await postgres.makeDatabase("page");
  const first = await MappedServer.make();
  gates = { "gate-1": first, "gate-2": await MappedServer.make(first) };
  balancer = await MappedServer.make(first);
});
afterAll(async () => {
  if (!isPossible) return;
  await haproxy?.end();
  await balancer.end();
  // The first one has the state directory.
  await gates["gate-2"].end();
  await gates["gate-1"].end();
  postgres.end();
});

const replaced = (text: string, from: 0 | 1) =>
  addresses.reduce((result, pair) => result.replaceAll(pair[from], pair[1 - from] ?? ""), text);

/** With short leases, by which the test waits less; commands come from the address of their node. */
function meantHere(command: string, address: string): string {
  return replaced(command, 0)
    .replace(replaced(documentedAddress, 0), database)
    .replace(/^curl /, `curl --interface ${address} `);
}

/** What the page sleeps for, however long it takes on the machine of the test. */
async function companyMoved(): Promise<ProgramResult> {
  await waitFor(`${goesTo} to have the company`, async () => {
    const result = await runOnGate(goesTo, "dropgate nodes --json");
    expect(result?.exitCode, result?.output).toBe(0);
    const nodes = JSON.parse(result?.stdout ?? "") as readonly { node: string; companies: number }[];
    return nodes.every(({ node, companies }) => companies === (node === goesTo ? 1 : 0));
  });
  return nothing;
}

/** The company leaves the node that is drained, and the one that is killed. */
function noteMove(command: string): void {
  const drained = /^dropgate nodes drain (.+)$/.exec(command)?.[1];
  const left = command.startsWith("systemctl kill ") ? places[0] : drained;
  if (left !== undefined) goesTo = left === "gate-1" ? "gate-2" : "gate-1";
}

async function startHaproxy(): Promise<void> {
  const port = (documented: number) => Number(balancer.mapped(String(documented)));
  const [ftp = 0, ftps = 0, one = 0, two = 0] = await freePorts(4);
  const passive = [[one, one] as const, [two, two] as const];
  const ports = { sftp: port(2222), ftp, ftps, https: port(8443), console: port(8444), passive };
  const file = balancer.mapped("/etc/haproxy/haproxy.cfg");
  const command = [...environmentOf(ports, join(file, "../..")), "haproxy", "-db", "-f", file];
  haproxy = await startServer("env", command, ports.sftp);
}

async function runOnBalancer(command: string): Promise<ProgramResult | undefined> {
  if (command === "systemctl restart haproxy") {
    await startHaproxy();
    return nothing;
  }
  if (!command.startsWith("cp ")) return await balancer.run(command);
  return await balancer.run(`mkdir -p /etc/haproxy && ${command.replace("haproxy.cfg", balancerFile)}`);
}

/** As between the two machines: all of the folder. */
function copyConfiguration(): undefined {
  const of = (gate: MappedServer) => gate.mapped("/etc/dropgate/");
  cpSync(of(gates["gate-1"]), of(gates["gate-2"]), { recursive: true });
  isCopied = true;
}

/** As from the machine of the database. */
function copyCertificate(): undefined {
  copyFileSync(postgres.authority.caFile, gates["gate-1"].mapped("/etc/dropgate/tls/postgres.crt"));
}

async function runOnGate(name: Gate, command: string): Promise<ProgramResult | undefined> {
  const result = await gates[name].run(meantHere(command, name === "gate-1" ? "127.0.0.11" : "127.0.0.12"));
  return result && { ...result, output: replaced(result.output, 1) };
}

async function run(command: string): Promise<ProgramResult | undefined> {
  const where = /^# on (.+)$/.exec(command)?.[1];
  if (where !== undefined) {
    places = where.split(" and ");
    return nothing;
  }
  if (leftOut.some((form) => form.test(command))) return undefined;
  noteMove(command);
  if (/^sleep \d+$/.test(command)) return await companyMoved();
  if (command.startsWith("scp ")) return copyCertificate();
  if (command.startsWith("tar ")) return copyConfiguration();
  if (places[0] === "the balancer") return await runOnBalancer(command);
  const results = await Promise.all(places.map((place) => runOnGate(place as Gate, command)));
  return results.find((result) => result?.exitCode !== 0) ?? results.at(-1);
}

describe.runIf(isPossible)(page, () => {
  const followed: { readonly command: string; readonly output: string }[] = [];
  const outputOf = (command: string) =>
    followed.filter((each) => each.command === command).map(({ output }) => output);

  test("each command succeeds, and shows what the page does", async () => {
    const shown: Shown[] = [];
    const configure = () => Promise.reject(new Error("the page has its settings in a command"));
    await followPage(
      page,
      { run, configure },
      {
        followed({ command, result }) {
          expect(result?.exitCode ?? 0, `${command}\n${result?.output}`).toBe(0);
          if (result !== undefined) followed.push({ command, output: result.output });
        },
        showed: (outcome) => shown.push(outcome),
      },
    );
    expect(isCopied).toBe(true);
    expect(shown.length).toBeGreaterThan(2);
    for (const outcome of shown) expect(isAsShown(outcome), outcome.output).toBe(true);
  });

  test("the node that is drained is not ready; the company of the one that is killed is the other one's", () => {
    const [killed] = outputOf("dropgate nodes");
    expect(killed).toMatch(/^gate-1 +working +1 /m);
    expect(killed).toMatch(/^gate-2 .* 0 /m);
    const ready = followed.filter(({ command }) => command.endsWith("https://10.0.0.11:8443/readyz"));
    expect(ready.map(({ output }) => /"status":"([\w ]+)"/.exec(output)?.[1])).toEqual([
      "not ready",
      "ready",
    ]);
  });
});
