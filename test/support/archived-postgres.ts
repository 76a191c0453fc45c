/** A server of PostgreSQL that archives its WAL, is backed up by `pg_basebackup`, and is put back to a moment. */
import { execFile } from "node:child_process";
import { chmod, chown, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { postgresProgram } from "./postgres-programs.ts";
import { askPostgres } from "./postgres-server.ts";
import { freePort } from "./server-process.ts";
import { waitFor } from "./wait-for.ts";

const nobody = 65_534;
const isRoot = process.geteuid?.() === 0;
const account = isRoot ? { uid: nobody, gid: nobody } : {};
const database = "dropgate";

const settings = [
  ...["fsync=on", "listen_addresses=127.0.0.1", "unix_socket_directories=", "log_min_messages=warning"],
  ...["wal_level=replica", "max_wal_senders=4", "archive_mode=on", "archive_timeout=3"],
];

export class ArchivedPostgres {
  readonly #folder: string;
  readonly #port: number;
  #data: string;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.#data = join(folder, "first");
  }

  /** In a folder that its user can enter. */
  static async start(folder: string): Promise<ArchivedPostgres> {
    const made = new ArchivedPostgres(folder, await freePort());
    for (const path of [folder, made.#data, made.#archive]) await made.#giveFolder(path);
    const how = ["-U", "dropgate", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
    await made.#run("initdb", ["-D", made.#data, ...how]);
    await made.#start();
    await askPostgres(made.url.replace(/[^/]+$/, "postgres"), `create database ${database}`);
    return made;
  }

  get url(): string {
    return `postgres://dropgate@127.0.0.1:${this.#port}/${database}`;
  }

  async backUp(): Promise<void> {
    const from = ["-h", "127.0.0.1", "-p", String(this.#port), "-U", "dropgate", "--checkpoint=fast"];
    await this.#run("pg_basebackup", [...from, "-D", this.#base, "--no-sync"]);
  }

  /** The moment, in the words of the server. */
  async now(): Promise<string> {
    return String((await askPostgres(this.url, "select clock_timestamp()::text"))[0]?.[0]);
  }

  /** Until all that was committed by now is in the archive. */
  async archived(): Promise<void> {
    const current = "select pg_walfile_name(pg_current_wal_insert_lsn())";
    const wal = String((await askPostgres(this.url, current))[0]?.[0]);
    const last = "select coalesce(max(last_archived_wal), '') from pg_stat_archiver";
    await waitFor(`${wal} to be archived`, async () => {
      return String((await askPostgres(this.url, last))[0]?.[0]) >= wal;
    });
  }

  /** The server dies with its disk. */
  async lose(): Promise<void> {
    await this.#stop();
    await rm(this.#data, { recursive: true });
  }

  /** From the base backup and the archive. */
  async restoreTo(moment: string): Promise<void> {
    this.#data = join(this.#folder, "second");
    await cp(this.#base, this.#data, { recursive: true, preserveTimestamps: true });
    const lines = [
      `restore_command = 'cp ${this.#archive}/%f %p'`,
      `recovery_target_time = '${moment}'`,
      "recovery_target_action = 'promote'",
    ];
    await writeFile(join(this.#data, "postgresql.auto.conf"), `${lines.join("\n")}\n`);
    await writeFile(join(this.#data, "recovery.signal"), "");
    await chmod(this.#data, 0o700);
    if (isRoot) await this.#run("chown", ["-R", `${nobody}:${nobody}`, this.#data]);
    await this.#start();
    await waitFor("the moment to be reached", async () => {
      return (await askPostgres(this.url, "select pg_is_in_recovery()"))[0]?.[0] === false;
    });
  }

  async end(): Promise<void> {
    await this.#stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #archive(): string {
    return join(this.#folder, "wal");
  }

  get #base(): string {
    return join(this.#folder, "base");
  }

  async #giveFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true });
    await chmod(path, 0o700);
    if (isRoot) await chown(path, nobody, nobody);
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    const isServers = name !== "chown";
    const options = { cwd: this.#folder, ...(isServers ? account : {}) };
    await promisify(execFile)(isServers ? postgresProgram(name) : name, args, options);
  }

  async #start(): Promise<void> {
    const keep = `archive_command=test ! -f ${this.#archive}/%f && cp %p ${this.#archive}/%f`;
    const options = [...settings, keep, `port=${this.#port}`].map((one) => `-c "${one}"`);
    // The server keeps the streams of who starts it.
    const log = join(this.#folder, "log");
    const control = [postgresProgram("pg_ctl"), "-D", this.#data, "-w", "-l", log];
    const started = ["-c", '"$@" >/dev/null 2>&1 </dev/null', "start", ...control];
    const args = [...started, "-o", options.join(" "), "start"];
    await promisify(execFile)("sh", args, { cwd: this.#folder, ...account });
  }

  async #stop(): Promise<void> {
    await this.#run("pg_ctl", ["-D", this.#data, "-m", "immediate", "stop"]);
  }
}
