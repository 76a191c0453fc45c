/** `npm start`'s script, as somebody runs it who looks at the program for the first time. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { projectFolder } from "./markdown.ts";
import { waitFor } from "./wait-for.ts";

const freePorts = { http: 0, sftp: 0 };

/** Runs the demo until it is ready, then `meanwhile`, and ends it; gives what it printed. Its ports are free ones. */
export async function runDemo(
  folder: string,
  meanwhile: (printed: string) => Promise<void> = async () => undefined,
  { http, sftp }: { readonly http: number; readonly sftp: number } = freePorts,
): Promise<string> {
  const ports = { DROPGATE_HTTP_PORT: String(http), DROPGATE_SFTP_PORT: String(sftp) };
  const env = { ...process.env, ...ports, DROPGATE_DEMO_DIR: folder };
  const child = spawn("sh", [join(projectFolder, "bin/start")], { env, stdio: ["ignore", "pipe", "pipe"] });
  const exit = new Promise<number | null>((settle) => child.on("close", settle));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  try {
    const isSettled = () => printed.includes('"msg":"ready"') || child.exitCode !== null;
    await waitFor("ready, or an end", isSettled);
    await meanwhile(printed);
  } finally {
    // The shell became the daemon: its signal is the daemon's.
    child.kill("SIGTERM");
    await exit;
  }
  expect(await exit, printed).toBe(0);
  return printed;
}
