/** Servers of others, run for a test: on 127.0.0.1, at a free port, ended by their process id. */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { waitFor } from "./wait-for.ts";

/** Below those that systems give to clients: one of these could take the port before the server does. */
const [firstPort, ports] = [15_000, 17_000];

function listensAt(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

const given = new Set<number>();

/** A port that nobody listens at just now, another one each time: what it is for may listen there later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * ports);
    if (given.has(port) || !(await listensAt(port))) continue;
    given.add(port);
    return port;
  }
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

export interface ServerProcess {
  end(): Promise<void>;
}

/** Starts a program in a process group of its own, and resolves when it listens at the port. */
export async function startServer(
  program: string,
  args: readonly string[],
  port: number,
  host = "127.0.0.1",
): Promise<ServerProcess> {
  const child = spawn(program, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (part: Buffer) => {
    output += part.toString();
  });
  child.stderr.on("data", (part: Buffer) => {
    output += part.toString();
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  child.on("error", (error) => {
    output += error.message;
  });
  await waitFor(`${program} listens`, () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`);
    return listens(host, port);
  });
  return {
    async end() {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // It has ended by itself.
      }
      await ended;
    },
  };
}
