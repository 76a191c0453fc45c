import type { UserKeyView, UserView } from "../../app/admin/admin.ts";
import { given } from "../../lib/given.ts";
import { type CliCommand, type CommonOptions, gathered } from "../command-line.ts";
import { tableLines } from "../table.ts";

interface AddOptions {
  readonly company: string;
  readonly role: readonly string[];
  readonly passwordFile?: string;
  readonly key?: string;
}

function declareForUser(user: CliCommand, name: string, summary: string): CliCommand {
  return user
    .declare(name, summary)
    .argument("<name>", "name of the user")
    .option("--company <code>", "selects among users of the same name");
}

function referenceOf(userName: string, { company }: CommonOptions) {
  return { userName, ...given({ companyCode: company }) };
}

function passwordLines(generatedPassword: string | undefined): string[] {
  return generatedPassword === undefined ? [] : [`Password: ${generatedPassword} (shown only now)`];
}

function declareAdd(user: CliCommand): void {
  user
    .declare("add", "add a user to a company, or change its roles")
    .argument("<name>", "name of the user")
    .requiredOption("--company <code>", "code of the company")
    .requiredOption("--role <role>", "a role in the company; may be given several times", gathered)
    .option("--password-file <file>", "file that holds the password (- for standard input)")
    .option("--key <file>", "public key for SFTP, as in an .pub file")
    .addHelpText(
      "after",
      "\nA new user without password and key gets a generated password, which is shown once.",
    )
    .onConfig(async (run, config, userName: string, options: AddOptions) => {
      const { addUser } = await import("../../app/admin/admin.ts");
      const { company: companyCode, role: roles, passwordFile, key: keyFile } = options;
      const files = given({ passwordFile, keyFile });
      const added = await addUser(config, { userName, companyCode, roles, ...files });
      const kept = added.isChanged ? "changed in" : "is as given already in";
      const outcome = added.isNewMember ? "added to" : kept;
      const place = `${added.companyCode} (${added.roles.join(", ")})`;
      run.printLines([`User ${userName} ${outcome} ${place}.`, ...passwordLines(added.generatedPassword)]);
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

function listLines(users: readonly UserView[]): readonly string[] {
  if (users.length === 0) return ["There is no user yet: `dropgate user add` makes one."];
  return tableLines(["NAME", "STATE", "SIGNS IN WITH", "ROLES"], users.map(userRow));
}

function declareList(user: CliCommand): void {
  user
    .declare("list", "list the users")
    .withJson()
    .option("--company <code>", "only those of a company")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listUsers } = await import("../../app/admin/admin.ts");
      run.printResult(options, await listUsers(config, options), listLines);
    });
}

function declareSetPassword(user: CliCommand): void {
  declareForUser(user, "set-password", "set a user's password")
    .option(
      "--password-file <file>",
      "file that holds the password (- for standard input); else one is generated",
    )
    .onConfig(
      async (run, config, userName: string, options: CommonOptions & { readonly passwordFile?: string }) => {
        const { setPassword } = await import("../../app/admin/admin.ts");
        const file = given({ passwordFile: options.passwordFile });
        const who = { ...referenceOf(userName, options), ...file };
        const { generatedPassword } = await setPassword(config, who);
        run.printLines([`The password of ${userName} is set.`, ...passwordLines(generatedPassword)]);
      },
    );
}

function declareEnabling(user: CliCommand, isEnabled: boolean): void {
  const [name, summary] = isEnabled
    ? ["enable", "let a user sign in again"]
    : ["disable", "block a user from signing in"];
  declareForUser(user, name, summary).onConfig(
    async (run, config, userName: string, options: CommonOptions) => {
      const { setUserEnabled } = await import("../../app/admin/admin.ts");
      const { isChanged } = await setUserEnabled(config, referenceOf(userName, options), isEnabled);
      run.printLines([`User ${userName} is ${isChanged ? "" : "already "}${name}d.`]);
    },
  );
}

function declareAddKey(user: CliCommand): void {
  declareForUser(user, "add-key", "add a public key for SFTP to a user")
    .requiredOption("--key <file>", "public key, as in an .pub file")
    .onConfig(async (run, config, userName: string, options: CommonOptions & { readonly key: string }) => {
      const { addUserKey } = await import("../../app/admin/admin.ts");
      const added = await addUserKey(config, { ...referenceOf(userName, options), keyFile: options.key });
      const outcome = added.isNew ? "may sign in with" : "has already";
      run.printLines([`User ${userName} ${outcome} the key ${added.fingerprint}.`]);
    });
}

function keyRow({ fingerprint, keyType, comment }: UserKeyView): string[] {
  return [fingerprint, keyType, comment];
}

function keyLines(userName: string, keys: readonly UserKeyView[]): readonly string[] {
  if (keys.length === 0) return [`User ${userName} has no key: \`dropgate user add-key\` adds one.`];
  return tableLines(["FINGERPRINT", "TYPE", "COMMENT"], keys.map(keyRow));
}

function declareKeys(user: CliCommand): void {
  declareForUser(user, "keys", "list a user's public keys")
    .withJson()
    .onConfig(async (run, config, userName: string, options: CommonOptions) => {
      const { listUserKeys } = await import("../../app/admin/admin.ts");
      const found = await listUserKeys(config, referenceOf(userName, options));
      run.printResult(options, found, (keys) => keyLines(userName, keys));
    });
}

function declareRemoveKey(user: CliCommand): void {
  declareForUser(user, "remove-key", "remove a public key from a user")
    .argument("<fingerprint>", "SHA256:… as `dropgate user keys` and `ssh-keygen -l` show it")
    .addHelpText(
      "after",
      "\nThe user can no longer sign in from this moment. Its open connections end within two seconds.",
    )
    .onConfig(async (run, config, userName: string, fingerprint: string, options: CommonOptions) => {
      const { removeUserKey } = await import("../../app/admin/admin.ts");
      const removed = await removeUserKey(config, { ...referenceOf(userName, options), fingerprint });
      const rest = removed.canSignIn ? "" : " The user has neither password nor key now.";
      run.printLines([`The key ${removed.fingerprint} of ${userName} is removed.${rest}`]);
    });
}

/** `dropgate user add|list|set-password|disable|enable|add-key|keys|remove-key` */
export function declareUser(program: CliCommand): void {
  const user = program.declare("user", "users, their roles, passwords and keys");
  declareAdd(user);
  declareList(user);
  declareSetPassword(user);
  declareEnabling(user, false);
  declareEnabling(user, true);
  declareAddKey(user);
  declareKeys(user);
  declareRemoveKey(user);
}
