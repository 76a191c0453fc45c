/**
 * A server in a temporary folder, for whom may not install packages: paths of the pages lie below the folder, ports are
 * free ones, and the services are started and stopped by the test. What only a system can do is left out (`leftOut`).
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { commandsHere, DaemonRun, type LogLine } from "./daemon.ts";
import { projectFolder } from "./markdown.ts";
import { resultInProcess } from "./run-in-process.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";
import type { Server } from "./server-pages.ts";
import { freePort, startServer } from "./server-process.ts";
import { program } from "./site-template.ts";

/** Commands that need a whole system, with the reason. `test/nightly/package-booted.ts` runs them on one that boots. */
export const leftOut: readonly (readonly [commands: RegExp, reason: string])[] = [
  [/^apt (?:install|remove) /, "changes the packages of the machine"],
  [/^journalctl /, "there is no journal without systemd"],
  [/^systemctl (?:daemon-reload$|status )/, "there is no systemd"],
];

/** A command of the program by itself, in which neither the shell nor the working folder has anything to do. */
const aloneCommand = /^dropgate (?!.* --(?:config|key|password-file) )([\w ./:=@,-]+)$/;

const documentedPorts = [8080, 2222, 9090, 18_080, 12_222, 8444, 8443];
const packagedConfiguration = join(projectFolder, "tools/package/debian/dropgate.yaml");

interface RunningUnit {
  stop(): Promise<void>;
  /** Where it can; else it is started anew. */
  reload?(): Promise<void>;
  kill?(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;

function merged(own: Fields, added: Fields): Fields {
  const both = Object.entries(added).map(([name, value]) => {
    const former = own[name];
    const areSections = isSection(former) && isSection(value);
    return [name, areSections ? merged(former, value) : value] as const;
  });
  return { ...own, ...Object.fromEntries(both) };
}

function isSection(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a configuration with settings added to it. JSON is YAML. */
export function withSettings(configuration: string, settings: string): string {
  const all = merged((parse(configuration) ?? {}) as Fields, parse(settings) as Fields);
  return `${JSON.stringify(all, null, 2)}\n`;
}

const answered = (output = ""): ProgramResult => ({ exitCode: 0, stdout: output, output });

/** The message of a line of the log, with that of its error. */
function toldIn({ msg, err }: LogLine): string {
  return typeof err === "object" && err !== null && "message" in err ? `${msg}: ${String(err.message)}` : msg;
}

export class MappedServer implements Server {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #mapping: readonly (readonly [documented: string, own: string])[];
  readonly #units = new Map<string, RunningUnit>();
  /** Everything that daemons have printed. */
  readonly #runs: DaemonRun[] = [];

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
    this.#mapping = [
      ["/usr/share/doc/dropgate/", `${projectFolder}/`],
      ...["/var/lib/", "/etc/", "/srv/"].map((path) => [path, join(folder, path, "/")] as const),
      ...documentedPorts.map((port, at) => [String(port), String(ports[at])] as const),
      ["0.0.0.0", "127.0.0.1"],
    ];
  }

  /** As the package leaves a machine; one beside another has the same ports, and must listen at another address. */
  static async make(beside?: MappedServer): Promise<MappedServer> {
    const folder = mkdtempSync(join(tmpdir(), "dropgate-server-"));
    const ports = beside === undefined ? [] : [...beside.#ports];
    if (beside === undefined) for (const _ of documentedPorts) ports.push(await freePort());
    const server = new MappedServer(folder, ports);
    for (const name of ["root", "bin", "var/lib/dropgate", "etc/dropgate", "etc/prometheus", "srv"])
      mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, "bin/dropgate"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
    cpSync(packagedConfiguration, server.#configFile);
    const listens = { http: { port: ports[0] }, sftp: { port: ports[1] } };
    await server.configure(`stateDir: /var/lib/dropgate\n`);
    await server.configure(JSON.stringify(listens));
    return server;
  }

  async configure(settings: string): Promise<void> {
    const former = readFileSync(this.#configFile, "utf8");
    writeFileSync(this.#configFile, withSettings(former, this.mapped(settings)));
  }

  async run(command: string): Promise<ProgramResult | undefined> {
    if (leftOut.some(([form]) => form.test(command))) return undefined;
    const service = /^systemctl (\S+) (\S+)$/.exec(command);
    if (service !== null) return await this.#control(service[1] ?? "", service[2] ?? "");
    const killed = /^systemctl kill --kill-whom=main -s KILL (\S+)$/.exec(command);
    if (killed !== null) {
      await this.#kill(killed[1] ?? "");
      return answered();
    }
    const transient = /^systemd-run --unit=(\S+) --uid=dropgate dropgate serve --config (\S+)$/.exec(command);
    if (transient !== null) {
      await this.#startDaemon(transient[1] ?? "", this.mapped(transient[2] ?? ""));
      return answered();
    }
    return await this.#runMapped(command);
  }

  /** Stops what runs and removes the folder. Throws when a daemon has logged a failure, but for `expected` ones. */
  async end(expected?: RegExp): Promise<void> {
    try {
      for (const name of this.#units.keys()) await this.#stop(name);
      const failures = this.#runs.flatMap(({ log }) =>
        log.filter(
          (line) =>
            (line.level === "error" || line.level === "fatal") && expected?.test(toldIn(line)) !== true,
        ),
      );
      if (failures.length > 0) throw new Error(`a daemon has failed: ${JSON.stringify(failures)}`);
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  get #configFile(): string {
    return join(this.#folder, "etc/dropgate/dropgate.yaml");
  }

  /** A text of a page as it is meant here. */
  mapped(text: string): string {
    return this.#mapping.reduce((result, [documented, own]) => {
      // A number within another one is no port, a path behind another one is part of it.
      return result.replaceAll(
        new RegExp(`(?<![\\w/.])${documented.replaceAll(".", "\\.")}(?!\\d)`, "g"),
        own,
      );
    }, text);
  }

  #documented({ exitCode, stdout, output }: ProgramResult): ProgramResult {
    const back = (text: string) =>
      this.#mapping.reduce((result, [documented, own]) => {
        const isAddress = documented === "0.0.0.0";
        return isAddress ? result : result.replaceAll(own, documented);
      }, text);
    return { exitCode, stdout: back(stdout), output: back(output) };
  }

  async #runMapped(command: string): Promise<ProgramResult> {
    const alone = aloneCommand.exec(command)?.[1]?.split(" ");
    if (alone !== undefined && commandsHere.has(alone[0] ?? "")) return await this.#runHere(alone);
    // The user of the service comes with the package.
    const text = this.mapped(command).replaceAll(" -o dropgate -g dropgate ", " ");
    const env = {
      ...process.env,
      PATH: `${join(this.#folder, "bin")}:${process.env["PATH"]}`,
      DROPGATE_CONFIG: this.#configFile,
      LC_ALL: "C.UTF-8",
    };
    const cwd = join(this.#folder, "root");
    return this.#documented(await runProgram("sh", ["-c", text], { cwd, env }));
  }

  /** What the program prints is the same, without a process for each of a hundred commands. */
  async #runHere(words: readonly string[]): Promise<ProgramResult> {
    const place = { configFile: this.#configFile, folder: join(this.#folder, "root") };
    return this.#documented(await resultInProcess(place, ...words.map((word) => this.mapped(word))));
  }

  async #control(verb: string, unit: string): Promise<ProgramResult> {
    if (verb === "is-active") return answered(this.#units.has(unit) ? "active\n" : "inactive\n");
    const running = this.#units.get(unit);
    if (verb === "reload" && running?.reload !== undefined) {
      await running.reload();
      return answered();
    }
    if (verb !== "start") await this.#stop(unit);
    if (verb === "stop") return answered();
    if (unit === "prometheus") await this.#startPrometheus();
    else await this.#startDaemon(unit, this.#configFile);
    return answered();
  }

  async #stop(name: string): Promise<void> {
    const unit = this.#units.get(name);
    this.#units.delete(name);
    await unit?.stop();
  }

  async #kill(name: string): Promise<void> {
    const unit = this.#units.get(name);
    this.#units.delete(name);
    if (unit?.kill === undefined) throw new Error(`${name} is nothing that runs here and can be killed`);
    await unit.kill();
  }

  async #startDaemon(name: string, configFile: string): Promise<void> {
    const run = new DaemonRun(configFile, {});
    this.#runs.push(run);
    const stop = async () => {
      run.process.kill("SIGTERM");
      const exitCode = await run.exit;
      if (exitCode !== 0) throw new Error(`the daemon of ${name} ended with ${exitCode}: ${run.text}`);
    };
    const reload = async () => {
      run.process.kill("SIGHUP");
      await run.waitForLog(({ msg }) => msg === "configuration reloaded");
    };
    const kill = async () => {
      run.process.kill("SIGKILL");
      await run.exit;
    };
    this.#units.set(name, { stop, reload, kill });
    await run.waitForLog(({ msg }) => msg === "ready");
  }

  async #startPrometheus(): Promise<void> {
    const port = Number(this.mapped("9090"));
    const config = join(this.#folder, "etc/prometheus/prometheus.yml");
    const data = join(this.#folder, "prometheus");
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    if (!existsSync(data)) mkdirSync(data);
    const server = await startServer("prometheus", args, port);
    this.#units.set("prometheus", { stop: () => server.end() });
  }
}
