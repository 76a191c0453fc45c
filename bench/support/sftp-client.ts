import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { runProgram } from "./run-program.ts";
import type { SftpSite } from "./sites.ts";

/** Both servers get the same client with the same cipher, the one that both do quickest. */
const settings = {
  StrictHostKeyChecking: "no",
  UserKnownHostsFile: "/dev/null",
  GlobalKnownHostsFile: "/dev/null",
  LogLevel: "ERROR",
  IdentitiesOnly: "yes",
  IdentityAgent: "none",
  BatchMode: "yes",
  Ciphers: "aes128-gcm@openssh.com",
};

/** Runs OpenSSH's `sftp` with these commands in one session; gives the milliseconds from its start to its end. */
export async function runSftp(site: SftpSite, folder: string, commands: readonly string[]): Promise<number> {
  const batch = join(folder, "batch");
  await writeFile(batch, `${commands.join("\n")}\n`);
  const options = Object.entries({ ...settings, IdentityFile: site.keyFile }).flatMap(([name, value]) => [
    "-o",
    `${name}=${value}`,
  ]);
  const target = `${site.login}@127.0.0.1`;
  const args = ["-q", "-F", "none", ...options, "-P", String(site.port), "-b", batch, target];
  return (await runProgram("sftp", args, folder)).ms;
}

/** Waits until the server takes sessions. */
export async function untilServing(site: SftpSite, folder: string): Promise<void> {
  for (let left = 100; ; left -= 1) {
    try {
      await runSftp(site, folder, ["pwd"]);
      return;
    } catch (error) {
      if (left === 0) throw error;
      await wait(50);
    }
  }
}
