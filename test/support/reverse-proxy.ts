/** haproxy before a server of the tests. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled } from "./run-program.ts";
import { freePort, startServer } from "./server-process.ts";

/** `install-system-programs.sh` says it when it is not there; with CI set that is an error. */
export const hasReverseProxy = isInstalled("haproxy");

export interface ReverseProxy {
  /** The address before the path, as a browser asks for it. */
  readonly origin: string;
  end(): Promise<void>;
}

/** Starts one that passes all on to the port; `rules` are lines of its backend. */
export async function startReverseProxy(to: number, rules: readonly string[]): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), "dropgate-proxy-"));
  const [port, file] = [await freePort(), join(folder, "haproxy.cfg")];
  const lines = [
    ...["defaults", "  mode http", "  timeout connect 5s", "  timeout client 60s", "  timeout server 60s"],
    ...["frontend in", `  bind 127.0.0.1:${port}`, "  default_backend console"],
    ...["backend console", ...rules.map((rule) => `  ${rule}`), `  server console 127.0.0.1:${to}`],
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const server = await startServer("haproxy", ["-db", "-f", file], port);
  return {
    origin: `http://127.0.0.1:${port}`,
    async end() {
      await server.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
