import type { Command } from "commander";
import { given } from "../lib/given.ts";
import { type CliRun, configPathOf, declare } from "./command-line.ts";

/** `dropgate serve` */
export function declareServe(program: Command, run: CliRun): void {
  declare(
    program,
    "serve",
    'run the daemon in the foreground; it is ready when it prints the line with "msg":"ready"',
  ).action(async (_options: object, command: Command) => {
    const { runDaemon } = await import("../app/daemon/run-daemon.ts");
    const { env, cwd } = run.io;
    run.exitCode = await runDaemon({ env, cwd, ...given({ configPath: configPathOf(command) }) });
  });
}
