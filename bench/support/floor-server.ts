/** Starts a bare server of the benches over HTTP as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launcher } from "./run-program.ts";
import { endProcess } from "./sites.ts";

/** A server over HTTP, the daemon or what it is compared with. */
export interface HttpSite {
  readonly process: ChildProcess;
  readonly port: number;
}

export interface FloorServer extends HttpSite {
  end(): Promise<void>;
}

/** The script prints its port when it takes requests; `about` is what it is told to serve. */
export async function startFloorServer(
  script: "gateway-read-floor.ts" | "gateway-write-floor.ts" | "events-floor.ts" | "scrape-floor.ts",
  about: string,
): Promise<FloorServer> {
  const file = join(import.meta.dirname, "..", script);
  const child = spawn(launcher, [file, about], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`${script} ended with ${code}`)),
  );
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  // Its end is only awaited while it starts.
  ended.catch(() => undefined);
  return { process: child, port: Number(line), end: () => endProcess(child) };
}
