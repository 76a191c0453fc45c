/** The pages for the administrator of a server, followed in the booted machine as they stand; nothing is left out. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withSettings } from "../support/mapped-server.ts";
import { followPage, isAsShown, type Server, serverPages } from "../support/server-pages.ts";
import type { BootedMachine } from "./booted-machine.ts";
import type { Transcript } from "./transcript.ts";

/** Names of packages on the pages, and those that take their place. */
export type PackageNames = Readonly<Record<string, string>>;

function serverIn(machine: BootedMachine, names: PackageNames): Server {
  const configFile = join(machine.root, "etc/dropgate/dropgate.yaml");
  return {
    async run(command) {
      const text = Object.entries(names).reduce((all, [shown, own]) => all.replaceAll(shown, own), command);
      return await machine.run(text);
    },
    async configure(settings) {
      await writeFile(configFile, withSettings(await readFile(configFile, "utf8"), settings));
    },
  };
}

/** From the bare machine to one that was upgraded and taken back. Leaves a service that runs. */
export async function followPages(
  machine: BootedMachine,
  transcript: Transcript,
  names: PackageNames,
): Promise<void> {
  const server = serverIn(machine, names);
  for (const page of serverPages) {
    transcript.step(page);
    let count = 0;
    const failed: string[] = [];
    await followPage(page, server, {
      followed({ command, result }) {
        if (result === undefined) throw new Error(`nobody ran ${command}`);
        transcript.ran(command, result);
        count += 1;
        if (result.exitCode !== 0) failed.push(command);
      },
      showed(outcome) {
        transcript.expect("the output is what the page shows", isAsShown(outcome));
      },
    });
    transcript.expect(`each of its ${count} commands succeeds`, failed.length === 0, failed.join("; "));
  }
}
