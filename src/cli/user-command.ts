import type { Command } from "commander";
import type { UserKeyView, UserView } from "../app/admin/admin.ts";
import {
  type CliRun,
  declare,
  gathered,
  printJson,
  printLines,
  requireConfig,
  withJson,
} from "./command-line.ts";
import { tableLines } from "./table.ts";

interface AddOptions {
  readonly company: string;
  readonly role: readonly string[];
  readonly passwordFile?: string;
  readonly key?: string;
}

interface ReferenceOptions {
  readonly company?: string;
}

function referenceOf(
  userName: string,
  { company }: ReferenceOptions,
): { userName: string; companyCode?: string } {
  return company === undefined ? { userName } : { userName, companyCode: company };
}

function passwordLines(generatedPassword: string | undefined): string[] {
  return generatedPassword === undefined ? [] : [`Password: ${generatedPassword} (shown only now)`];
}

function declareAdd(user: Command, run: CliRun): void {
  declare(user, "add", "add a user to a company, or change its roles")
    .argument("<name>", "name of the user")
    .requiredOption("--company <code>", "code of the company")
    .requiredOption("--role <role>", "a role in the company; may be given several times", gathered)
    .option("--password-file <file>", "file that holds the password (- for standard input)")
    .option("--key <file>", "public key for SFTP, as in an .pub file")
    .addHelpText(
      "after",
      "\nA new user without password and key gets a generated password, which is shown once.",
    )
    .action(async (userName: string, options: AddOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { addUser } = await import("../app/admin/admin.ts");
      const { company, role, passwordFile, key } = options;
      const added = await addUser(config, {
        userName,
        companyCode: company,
        roles: role,
        ...(passwordFile === undefined ? {} : { passwordFile }),
        ...(key === undefined ? {} : { keyFile: key }),
      });
      const roles = `${added.companyCode} (${added.roles.join(", ")})`;
      const outcome = added.isNewMember
        ? "added to"
        : added.isChanged
          ? "changed in"
          : "is as given already in";
      printLines(run, [`User ${userName} ${outcome} ${roles}.`, ...passwordLines(added.generatedPassword)]);
    });
}

function userRow(user: UserView): string[] {
  const roles = user.memberships.map((one) => `${one.companyCode}: ${one.roles.join(", ")}`).join("; ");
  const signIn = [
    ...(user.hasPassword ? ["password"] : []),
    ...(user.keys.length > 0 ? [`${user.keys.length} key(s)`] : []),
  ];
  const state = user.isEnabled ? (user.mustChangePassword ? "must change password" : "enabled") : "disabled";
  return [user.userName, state, signIn.join(", ") || "nothing", roles || "none"];
}

function declareList(user: Command, run: CliRun): void {
  withJson(declare(user, "list", "list the users"))
    .option("--company <code>", "only those of a company")
    .action(async (options: ReferenceOptions & { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { listUsers } = await import("../app/admin/admin.ts");
      const users = await listUsers(
        config,
        options.company === undefined ? {} : { companyCode: options.company },
      );
      if (options.json) printJson(run, users);
      else if (users.length === 0) printLines(run, ["There is no user yet: `dropgate user add` makes one."]);
      else printLines(run, tableLines(["NAME", "STATE", "SIGNS IN WITH", "ROLES"], users.map(userRow)));
    });
}

function declareSetPassword(user: Command, run: CliRun): void {
  declare(user, "set-password", "set a user's password")
    .argument("<name>", "name of the user")
    .option("--company <code>", "selects among users of the same name")
    .option(
      "--password-file <file>",
      "file that holds the password (- for standard input); else one is generated",
    )
    .action(
      async (
        userName: string,
        options: ReferenceOptions & { readonly passwordFile?: string },
        command: Command,
      ) => {
        const config = await requireConfig(run, command);
        const { setPassword } = await import("../app/admin/admin.ts");
        const { passwordFile } = options;
        const { generatedPassword } = await setPassword(config, {
          ...referenceOf(userName, options),
          ...(passwordFile === undefined ? {} : { passwordFile }),
        });
        printLines(run, [`The password of ${userName} is set.`, ...passwordLines(generatedPassword)]);
      },
    );
}

function declareEnabling(user: Command, run: CliRun, isEnabled: boolean): void {
  const [name, summary] = isEnabled
    ? ["enable", "let a user sign in again"]
    : ["disable", "block a user from signing in"];
  declare(user, name, summary)
    .argument("<name>", "name of the user")
    .option("--company <code>", "selects among users of the same name")
    .action(async (userName: string, options: ReferenceOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { setUserEnabled } = await import("../app/admin/admin.ts");
      const { isChanged } = await setUserEnabled(config, referenceOf(userName, options), isEnabled);
      printLines(run, [`User ${userName} is ${isChanged ? "" : "already "}${name}d.`]);
    });
}

function declareAddKey(user: Command, run: CliRun): void {
  declare(user, "add-key", "add a public key for SFTP to a user")
    .argument("<name>", "name of the user")
    .requiredOption("--key <file>", "public key, as in an .pub file")
    .option("--company <code>", "selects among users of the same name")
    .action(
      async (userName: string, options: ReferenceOptions & { readonly key: string }, command: Command) => {
        const config = await requireConfig(run, command);
        const { addUserKey } = await import("../app/admin/admin.ts");
        const added = await addUserKey(config, { ...referenceOf(userName, options), keyFile: options.key });
        const outcome = added.isNew ? "may sign in with" : "has already";
        printLines(run, [`User ${userName} ${outcome} the key ${added.fingerprint}.`]);
      },
    );
}

function keyRow({ fingerprint, keyType, comment }: UserKeyView): string[] {
  return [fingerprint, keyType, comment];
}

function declareKeys(user: Command, run: CliRun): void {
  withJson(declare(user, "keys", "list a user's public keys"))
    .argument("<name>", "name of the user")
    .option("--company <code>", "selects among users of the same name")
    .action(
      async (userName: string, options: ReferenceOptions & { readonly json?: true }, command: Command) => {
        const config = await requireConfig(run, command);
        const { listUserKeys } = await import("../app/admin/admin.ts");
        const keys = await listUserKeys(config, referenceOf(userName, options));
        if (options.json) printJson(run, keys);
        else if (keys.length === 0)
          printLines(run, [`User ${userName} has no key: \`dropgate user add-key\` adds one.`]);
        else printLines(run, tableLines(["FINGERPRINT", "TYPE", "COMMENT"], keys.map(keyRow)));
      },
    );
}

function declareRemoveKey(user: Command, run: CliRun): void {
  declare(user, "remove-key", "remove a public key from a user")
    .argument("<name>", "name of the user")
    .argument("<fingerprint>", "SHA256:… as `dropgate user keys` and `ssh-keygen -l` show it")
    .option("--company <code>", "selects among users of the same name")
    .addHelpText(
      "after",
      "\nThe user can no longer sign in from this moment. Its open connections end within two seconds.",
    )
    .action(async (userName: string, fingerprint: string, options: ReferenceOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { removeUserKey } = await import("../app/admin/admin.ts");
      const removed = await removeUserKey(config, { ...referenceOf(userName, options), fingerprint });
      const rest = removed.canSignIn ? "" : " The user has neither password nor key now.";
      printLines(run, [`The key ${removed.fingerprint} of ${userName} is removed.${rest}`]);
    });
}

/** `dropgate user add|list|set-password|disable|enable|add-key|keys|remove-key` */
export function declareUser(program: Command, run: CliRun): void {
  const user = declare(program, "user", "users, their roles, passwords and keys");
  declareAdd(user, run);
  declareList(user, run);
  declareSetPassword(user, run);
  declareEnabling(user, run, false);
  declareEnabling(user, run, true);
  declareAddKey(user, run);
  declareKeys(user, run);
  declareRemoveKey(user, run);
}
