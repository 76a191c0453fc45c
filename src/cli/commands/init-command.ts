import { existsSync } from "node:fs";
import type { InitDone, InitOptions, InitUser } from "../../app/admin/init.ts";
import { given } from "../../lib/given.ts";
import { type CliCommand, FaultyConfigError, wholeNumber } from "../command-line.ts";

function connectionLines(done: InitDone): string[] {
  const { sftp, userName, hostKeyFingerprint } = done;
  if (sftp === undefined) return [`HTTP:           ${done.http}`];
  return [
    `HTTP:           ${done.http}`,
    `SFTP:           sftp -P ${sftp.port} ${userName}@${sftp.host}`,
    `SSH host key:   ${hostKeyFingerprint} (ED25519)`,
  ];
}

function adminPassword({ generatedPassword, isPasswordRight }: InitUser): string {
  if (generatedPassword !== undefined) return `, password ${generatedPassword} (shown only now)`;
  return isPasswordRight === false ? ", password not the one in its password file: it was changed since" : "";
}

function consoleLines({ console: address, admin }: InitDone): string[] {
  return [
    ...(address === undefined ? [] : [`Console:        ${address}`]),
    ...(admin === undefined ? [] : [`Administrator:  ${admin.userName}${adminPassword(admin)}`]),
  ];
}

/** bin/start looks for the sentence about a password that was changed. */
function passwordLines({ generatedPassword, isPasswordRight }: InitDone): string[] {
  if (generatedPassword !== undefined) return [`Password:       ${generatedPassword} (shown only now)`];
  if (isPasswordRight !== false) return [];
  return ["Password:       not the one in the password file: it was changed since, and stays as it is"];
}

/** The configuration of the unit, on a machine whose services systemd starts. */
function startCommand(configFile: string): string {
  const isOfUnit = configFile === "/etc/dropgate/dropgate.yaml" && existsSync("/run/systemd/system");
  return isOfUnit ? "systemctl start dropgate" : `dropgate serve --config ${configFile}`;
}

function doneLines(done: InitDone): string[] {
  const made = done.made.map((what) => `made ${what}`);
  return [
    ...(made.length === 0 ? ["Everything exists already; nothing was changed."] : made),
    ...done.ignored,
    "",
    ...consoleLines(done),
    ...connectionLines(done),
    `Company, user:  ${done.companyCode}, ${done.userName}`,
    ...passwordLines(done),
    `Start it with:  ${startCommand(done.configFile)}`,
  ];
}

/** `dropgate init` */
export function declareInit(program: CliCommand): void {
  const port = wholeNumber(0, 65_535);
  program
    .declare("init", "make a configuration, the state directory, a host key, a company and its user")
    .requiredOption("--dir <dir>", "folder for dropgate.yaml and, in var/, the state")
    .requiredOption("--company <code>", "code of the company")
    .requiredOption("--user <name>", "name of its user with the role DI_Integration")
    .option(
      "--password-file <file>",
      "file that holds the user's password (- for standard input); else one is generated",
    )
    .option("--admin <name>", "name of an administrator with the role MemberAdmin, who operates the console")
    .option("--admin-password-file <file>", "file that holds the password of --admin; else one is generated")
    .option("--state-dir <dir>", "folder for the state, when not DIR/var")
    .option("--http-port <port>", "port of HTTP", port)
    .option("--sftp-port <port>", "port of SFTP", port)
    .addHelpText(
      "after",
      "\nWith --config the configuration is written there instead of DIR/dropgate.yaml.\nRunning it again changes nothing.",
    )
    .action(async (options: Omit<InitOptions, "configFile">, command: CliCommand) => {
      const { initialise } = await import("../../app/admin/init.ts");
      const outcome = await initialise({ ...options, ...given({ configFile: command.configPath }) });
      if (outcome.kind === "faulty") throw new FaultyConfigError(outcome.faults, outcome.file);
      command.run.printLines(doneLines(outcome));
    });
}
