import { given } from "../../lib/given.ts";
import type { CliCommand } from "../command-line.ts";

/** `dropgate serve` */
export function declareServe(program: CliCommand): void {
  program
    .declare(
      "serve",
      'run the daemon in the foreground; it is ready when it prints the line with "msg":"ready"',
    )
    .action(async (_options: object, command: CliCommand) => {
      const { runDaemon } = await import("../../app/daemon/run-daemon.ts");
      const { run, configPath } = command;
      const { env, cwd } = run.io;
      run.exitCode = await runDaemon({ env, cwd, ...given({ configPath }) });
    });
}
