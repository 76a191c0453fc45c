/** A server of PostgreSQL for the tests of a run: Debian's package, as an ordinary user, in a folder of its own. */
import { execFile, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import type { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { systemCodeOf } from "../../src/lib/errors.ts";
import { postgresProgram } from "./postgres-programs.ts";
import { onceInRun } from "./run-folder.ts";
import { isInstalled } from "./run-program.ts";
import { freePort } from "./server-process.ts";
import { copyOf, migratedName } from "./store-url.ts";
import { openUncheckedStore } from "./unchecked-store.ts";
import { waitFor } from "./wait-for.ts";

const nobody = 65_534;

/** Debian's package; `install-system-programs.sh` installs it where it may. */
export const hasPostgres = isInstalled("pg_ctlcluster");

const inMemory = "/dev/shm";
const wantedBytes = 4 * 2 ** 30;

/** Files of memory, where the machine has them and room for the databases of a run. */
function dataPlace(): string {
  const room = existsSync(inMemory) ? statfsSync(inMemory) : undefined;
  return room !== undefined && room.bavail * room.bsize > wantedBytes ? inMemory : tmpdir();
}

/** The server refuses to run as root. */
const account = process.geteuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const common = ["max_connections=300", "listen_addresses=127.0.0.1", "unix_socket_directories="];
/** What is lost when the machine dies is lost with the tests. `fsync` is on as `dropgate check` asks, and costs nothing there. */
const careless = [
  ...["full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "shared_buffers=64MB"],
  "max_wal_size=256MB",
];

/** Runs a text in a session of its own; gives the rows, each as a list of its values. */
export async function askPostgres(url: string, text: string): Promise<readonly unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  // Told besides, when the server dies: the connection or the query rejects with it.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows as unknown[][];
  } finally {
    await client.end();
  }
}

export interface PostgresServer {
  /** Of the database of that name. */
  urlOf(database: string): string;
  /** Makes an empty one, and gives its address. */
  makeDatabase(name: string): Promise<string>;
  /** The same with all tables, which has never been opened. */
  makeMigrated(name: string): Promise<string>;
  /** Of the first of its processes, which has started the others. */
  pid(): number;
  /** Ends all of its processes with SIGKILL; resolves when they are gone. */
  kill(): Promise<void>;
  /** Has all of its processes stand still, and go on. */
  pause(): void;
  resume(): void;
  /** Starts it again on the same port. */
  start(): void;
  stop(): void;
}

/** Ends the server and removes its folder when its input ends: with the process that has the other side, however that ends. */
const watching = `trap '' HUP INT TERM; cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
rm -rf "$1"`;

function endWithThisProcess(folder: string): void {
  const watcher = spawn("sh", ["-c", watching, "watch-postgres", folder], {
    ...{ cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] },
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // The last ones end by themselves when the first is gone.
    if (systemCodeOf(error) !== "ESRCH") throw error;
  }
}

/** One whose settings are given keeps its data on the disk, and what is committed. */
function placeOf(settings: readonly string[] | undefined): string {
  return settings === undefined ? dataPlace() : tmpdir();
}

export interface PostgresOptions {
  /** Settings instead of those of a server that does not wait for the disk. */
  readonly settings?: readonly string[];
  /** Settings that come behind all others. */
  readonly more?: readonly string[];
}

/** A folder of a server that is not there yet, in which it may write. */
function makeServerFolder(place: string): string {
  const folder = mkdtempSync(join(place, "dropgate-postgres-"));
  if ("uid" in account) chownSync(folder, nobody, nobody);
  return folder;
}

const runIn = (folder: string) => ({ ...account, cwd: folder, stdio: "pipe" as const });
const dataIn = (folder: string) => join(folder, "data");

async function initialise(folder: string): Promise<void> {
  const data = dataIn(folder);
  const made = [
    "-D",
    data,
    "-U",
    "dropgate",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--no-sync",
  ];
  await promisify(execFile)(postgresProgram("initdb"), made, runIn(folder));
  // Who is `locked` has no password that would be right.
  const hosts = join(data, "pg_hba.conf");
  writeFileSync(hosts, `host all locked 127.0.0.1/32 scram-sha-256\n${readFileSync(hosts, "utf8")}`);
}

/** A migrated database without an identity: each store that is opened in a copy has its own. */
async function migrate(url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-test-"));
  const store = await openUncheckedStore(folder, { url });
  await store.write("site", (tx) => tx.deleteFrom("meta").where("key", "=", "instance").execute());
  await store.close();
  rmSync(folder, { recursive: true });
}

/** What each server of a run begins as: both take longer than most tests. */
async function makeFirstData(kept: string): Promise<void> {
  const folder = makeServerFolder(dataPlace());
  await initialise(folder);
  const server = await launch(folder, [...common, ...careless]);
  try {
    await migrate(await server.makeDatabase(migratedName));
    server.shutDown();
    cpSync(dataIn(folder), dataIn(kept), { recursive: true });
  } finally {
    server.stop();
  }
}

/** Starts a server with no database but the migrated one, which ends with this process; whoever has the address is its superuser. */
export async function startPostgres({ settings, more = [] }: PostgresOptions = {}): Promise<PostgresServer> {
  const first = await onceInRun("postgres", makeFirstData);
  const folder = makeServerFolder(placeOf(settings));
  const data = dataIn(folder);
  cpSync(dataIn(first), data, { recursive: true });
  chmodSync(data, 0o700);
  if ("uid" in account) execFileSync("chown", ["-R", `${nobody}:${nobody}`, data]);
  return await launch(folder, [...common, ...(settings ?? careless), ...more]);
}

interface LaunchedServer extends PostgresServer {
  /** Ends it so that its data may be copied. */
  shutDown(): void;
}

async function launch(folder: string, settings: readonly string[]): Promise<LaunchedServer> {
  const [data, run] = [dataIn(folder), runIn(folder)];
  const port = await freePort();
  const options = [...settings, `port=${port}`].map((setting) => `-c ${setting}`).join(" ");
  const control = postgresProgram("pg_ctl");
  endWithThisProcess(folder);
  const isRunning = () => existsSync(join(data, "postmaster.pid"));
  const shutDown = () => void execFileSync(control, ["-D", data, "-m", "fast", "stop"], run);
  const stop = () => {
    if (isRunning()) execFileSync(control, ["-D", data, "-m", "immediate", "stop"], run);
    rmSync(folder, { recursive: true, force: true });
  };
  const start = () => {
    const started = ["-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start"];
    execFileSync(control, started, { ...run, stdio: "ignore" });
  };
  const firstPid = () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  const signalAll = (name: NodeJS.Signals): readonly number[] => {
    const pid = firstPid();
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
    const pids = [pid, ...children.trim().split(/\s+/)].map(Number);
    for (const one of pids) signal(one, name);
    return pids;
  };
  const kill = async () => {
    const pids = signalAll("SIGKILL");
    await waitFor("the server to be gone", () => pids.every((one) => !existsSync(`/proc/${one}`)));
  };
  start();
  const urlOf = (database: string) => `postgres://dropgate@127.0.0.1:${port}/${database}`;
  return {
    urlOf,
    async makeDatabase(name) {
      await askPostgres(urlOf("postgres"), `create database ${name}`);
      return urlOf(name);
    },
    async makeMigrated(name) {
      await askPostgres(urlOf("postgres"), copyOf(migratedName, name));
      return urlOf(name);
    },
    ...{ kill, start, stop, shutDown, pid: firstPid },
    pause: () => void signalAll("SIGSTOP"),
    resume: () => void signalAll("SIGCONT"),
  };
}
