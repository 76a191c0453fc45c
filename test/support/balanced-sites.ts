/**
 * Two daemons, each with a state of its own and the same users and host key, behind HAProxy with the file that is shipped.
 * The balancer is 127.0.0.1, the nodes are 127.0.0.11 and 127.0.0.12, and clients may come from any other address of the
 * loopback network.
 */
import { createServer, connect } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { listen } from "../../src/lib/listen.ts";
import { type Settings, Site } from "./daemon.ts";
import { type CertificateFiles, ftpSettings, makeCertificateFiles } from "./ftp-clients.ts";
import { isInstalled } from "./run-program.ts";
import { type ServerProcess, startServer } from "./server-process.ts";
import { waitFor } from "./wait-for.ts";

export const balancerFile = resolve(import.meta.dirname, "../../deploy/haproxy/haproxy.cfg");

/** The file has HAProxy give up the rights of root. */
export const hasBalancer = isInstalled("haproxy") && process.getuid?.() === 0;

const nodes = ["127.0.0.11", "127.0.0.12"] as const;
const passiveCount = 20;
/** As systemd sets it: the daemon looks every second how it is. */
const looksOften = { WATCHDOG_USEC: "2000000" };

/** Whether one can listen at the port of the balancer and of both nodes. */
async function isFree(port: number): Promise<boolean> {
  for (const host of ["127.0.0.1", ...nodes]) {
    const server = createServer();
    try {
      await listen(server, { host, port });
    } catch {
      return false;
    } finally {
      server.close();
    }
  }
  return true;
}

/** So many ports on end, below those that the system gives to connections. */
export async function freePorts(count: number): Promise<readonly number[]> {
  return await waitFor("free ports", async () => {
    const first = 10_000 + Math.floor(Math.random() * 20_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    for (const port of ports) if (!(await isFree(port))) return undefined;
    return ports;
  });
}

interface Ports {
  readonly sftp: number;
  readonly ftp: number;
  readonly ftps: number;
  readonly https: number;
  readonly console: number;
  /** Of each node, the first and the last. */
  readonly passive: readonly (readonly [number, number])[];
}

async function choosePorts(): Promise<Ports> {
  const ports = await freePorts(5 + nodes.length * passiveCount);
  const [sftp = 0, ftp = 0, ftps = 0, https = 0, ofConsole = 0, ...more] = ports;
  const passive = nodes.map((_, index) => {
    const own = more.slice(index * passiveCount, (index + 1) * passiveCount);
    return [own.at(0) ?? 0, own.at(-1) ?? 0] as const;
  });
  return { sftp, ftp, ftps, https, console: ofConsole, passive };
}

function settingsOf(index: number, ports: Ports, certificate: CertificateFiles): Settings {
  const common = { host: nodes[index] ?? "", proxyProtocolFrom: ["127.0.0.1"] };
  const { certFile, keyFile } = certificate;
  const [from = 0, to = 0] = ports.passive[index] ?? [];
  return {
    sftp: { ...common, port: ports.sftp },
    ftp: ftpSettings(certificate, {
      ...common,
      port: ports.ftp,
      implicitPort: ports.ftps,
      passivePorts: { from, to },
      allowPlain: true,
    }),
    http: { ...common, port: ports.https, tls: { certFile, keyFile } },
    console: { ...common, port: ports.console },
  };
}

/** A site whose clients, but for those with an address of their own, come to the balancer. */
export interface BalancedSites {
  readonly sites: readonly [Site, Site];
  readonly certificate: CertificateFiles;
  readonly ports: Ports;
  /** How HAProxy finds the server of a section, such as `sftp/node1`: `UP`, `DOWN`, … */
  stateOf(server: string): Promise<string>;
  /** How many connections have come to a section. */
  sessionsOf(section: string): Promise<number>;
  end(): Promise<void>;
}

/** The environment by which the file of HAProxy is told where all is. */
export function environmentOf(ports: Ports, folder: string): readonly string[] {
  const [first, second] = ports.passive.map((range) => range.join("-"));
  return [
    ...["BALANCER=127.0.0.1", `NODE_1=${nodes[0]}`, `NODE_2=${nodes[1]}`],
    ...[`SFTP_PORT=${ports.sftp}`, `FTP_PORT=${ports.ftp}`, `FTPS_PORT=${ports.ftps}`],
    ...[`HTTPS_PORT=${ports.https}`, `CONSOLE_PORT=${ports.console}`],
    ...[`PASSIVE_1=${first}`, `PASSIVE_2=${second}`],
    ...[`LOG=${join(folder, "log")}`, `ADMIN_SOCKET=${join(folder, "admin.sock")}`],
  ];
}

async function askSocket(path: string, command: string): Promise<string> {
  const socket = connect(path);
  socket.end(`${command}\n`);
  return await text(socket);
}

/** The column of the table that `show stat` gives, for a server. */
function columnOf(table: string, server: string, column: string): string {
  const [head = "", ...rows] = table.split("\n");
  const names = head.replace("# ", "").split(",");
  const row = rows.find((each) => each.startsWith(`${server.replace("/", ",")},`));
  return row?.split(",")[names.indexOf(column)] ?? "";
}

/** Starts all of it; `more` are settings of both sites. */
export async function startBalancedSites(more: Settings = {}): Promise<BalancedSites> {
  const [folder, ports] = [await mkdtemp(join(tmpdir(), "dropgate-balancer-")), await choosePorts()];
  const certificate = makeCertificateFiles();
  const make = (index: number) => Site.make({ ...settingsOf(index, ports, certificate), ...more });
  const sites = [await make(0), await make(1)] as const;
  const undo: (() => Promise<void>)[] = [];
  const end = async (): Promise<void> => {
    for (const each of undo.toReversed()) await each();
    for (const site of sites) await site.end();
    certificate.remove();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(sites.map((site) => site.start({ env: looksOften })));
    const command = [...environmentOf(ports, folder), "haproxy", "-db", "-f", balancerFile];
    const server: ServerProcess = await startServer("env", command, ports.sftp);
    undo.push(() => server.end());
  } catch (error) {
    await end();
    throw error;
  }
  const read = async (server: string, column: string) =>
    columnOf(await askSocket(join(folder, "admin.sock"), "show stat"), server, column);
  const stateOf = (server: string) => read(server, "status");
  const sessionsOf = async (section: string) => Number(await read(`${section}/FRONTEND`, "stot"));
  return { sites, certificate, ports, stateOf, sessionsOf, end };
}
