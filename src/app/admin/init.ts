/**
 * `dropgate init`: everything a first start needs. Each step is skipped when its result exists, so running it again
 * changes nothing, and running it again after a crash completes it.
 */
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isRestoreOpen } from "../../backup/restore-backup.ts";
import { httpAddressOf, localHostOf } from "../../config/reader/address-range.ts";
import type { ConfigFault } from "../../config/reader/config-fault.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { ensureHostKeys, hostKeyFilesOf } from "../../endpoints/sftp/host-key.ts";
import { faultOfCompanyCode, isSameCompanyCode } from "../../domain/users/company-code.ts";
import {
  hasControlCharacter,
  isPasswordOfLength,
  isUserName,
  passwordForm,
  userNameForm,
} from "../../domain/users/user.ts";
import type { Role } from "../../domain/users/role.ts";
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";
import { isPasswordOf } from "../../lib/password-hash.ts";
import * as userAdmin from "../../operations/users/user-admin.ts";
import { findUsersByName } from "../../store/accounts/users.ts";
import { readPasswordFile, registerCompany } from "./admin.ts";
import { type AdminStore, becomeOwnerOf, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

/** The options of the command. */
export interface InitOptions {
  readonly dir: string;
  readonly company: string;
  readonly user: string;
  readonly passwordFile?: string;
  /** Name of an administrator of the company, who operates the console as well. */
  readonly admin?: string;
  readonly adminPasswordFile?: string;
  readonly httpPort?: number;
  readonly sftpPort?: number;
  /** Where the state goes, when not to `var/` in `dir`. */
  readonly stateDir?: string;
  /** Where the configuration is written, when not to `dropgate.yaml` in `dir`. */
  readonly configFile?: string;
}

/** What became of a user. */
export interface InitUser {
  readonly userName: string;
  readonly generatedPassword?: string;
  /** Whether the password of the file is the user's; undefined when none was given. */
  readonly isPasswordRight?: boolean;
}

export interface InitDone extends InitUser {
  readonly kind: "done";
  readonly configFile: string;
  readonly stateDir: string;
  readonly companyCode: string;
  readonly companyFolder: string;
  readonly admin?: InitUser;
  readonly hostKeyFingerprint: string;
  readonly http: string;
  /** Address of the console; undefined when the configuration switches it off. */
  readonly console?: string;
  /** Undefined when the configuration switches SFTP off. */
  readonly sftp?: { readonly host: string; readonly port: number };
  /** What this run made, for the output; empty when everything existed. */
  readonly made: readonly string[];
  /** Options that an existing configuration overrides; each message says where the value is set. */
  readonly ignored: readonly string[];
}

export type InitOutcome =
  | InitDone
  | { readonly kind: "faulty"; readonly file: string; readonly faults: readonly ConfigFault[] };

/** Users of one name in two companies may be different people. */
function operatorOf({ company }: InitOptions, admin: string): string {
  return `${admin}@${company}`;
}

function consoleText(options: InitOptions): string {
  const { admin } = options;
  const remark = admin === undefined ? "#" : "";
  const operator = JSON.stringify(operatorOf(options, admin ?? "NAME"));
  return `# The console in a browser, below the address of http at /console. Its operators see what belongs to all companies.
${remark}console:
${remark}  operators:
${remark}    - ${operator}
`;
}

function configText(stateDir: string, options: InitOptions): string {
  const port = (given: number | undefined, standard: number) =>
    given === undefined ? `  #port: ${standard}` : `  port: ${given}`;
  return `# Configuration of dropgate. What is not set here has its default; docs/configuration.md lists all settings.
# \`dropgate check\` tells whether all is well. Relative paths start at the folder of this file.

# Database, host keys and the companies' folders.
stateDir: ${JSON.stringify(stateDir)}

# The web service and the REST gateway. Listens on this machine alone; before other addresses are let in
# (host: 0.0.0.0), set up TLS here, or a TLS proxy in front and allowPlain: true.
http:
  #host: 127.0.0.1
${port(options.httpPort, 8080)}

${consoleText(options)}
# The SFTP server, on this machine alone as well.
sftp:
  #host: 127.0.0.1
${port(options.sftpPort, 2222)}

# Settings by company, such as further drop folders.
#companies:
#  ${options.company}:
#    folders:
#      - path: /srv/orders
`;
}

/** Before anything is made. */
function checkNames({ company, user, admin, passwordFile, adminPasswordFile }: InitOptions): void {
  const fault = faultOfCompanyCode(company);
  if (fault !== undefined) throw new WrongUseError(fault);
  const wrong = [user, ...(admin === undefined ? [] : [admin])].find((name) => !isUserName(name));
  if (wrong !== undefined) {
    throw new WrongUseError(
      `the user name ${JSON.stringify(wrong.slice(0, 60))} is not valid: use ${userNameForm}`,
    );
  }
  if (admin === user) {
    throw new WrongUseError(
      "--admin and --user name the same user: hosts exchange files as another one than the administrator",
    );
  }
  if (admin === undefined && adminPasswordFile !== undefined)
    throw new WrongUseError("--admin-password-file has no effect without --admin: name the administrator");
  if (passwordFile === "-" && adminPasswordFile === "-")
    throw new WrongUseError("only one of the two passwords can come from standard input: use a file");
}

function checkPassword(password: string): void {
  if (isPasswordOfLength(password) && !hasControlCharacter(password)) return;
  throw new WrongUseError(
    `the password must have ${passwordForm} and no control character, such as a line break in the middle`,
  );
}

function ignoredOptions(file: string, config: Config, options: InitOptions): readonly string[] {
  const asked = options.stateDir === undefined ? undefined : resolve(options.stateDir);
  const settings = [
    ["--http-port", options.httpPort, "http.port", config.http.port],
    ["--sftp-port", options.sftpPort, "sftp.port", config.sftp.port],
    ["--state-dir", asked, "stateDir", config.stateDir],
  ] as const;
  const { admin } = options;
  const operator = admin === undefined ? undefined : operatorOf(options, admin);
  const isOperator = operator === undefined || config.console.operators.includes(operator);
  const ofOperator = isOperator
    ? []
    : [
        `${operator} is no operator of the console: ${file} was there already; add it to console.operators there`,
      ];
  const ofSettings = settings
    .filter(([, wanted, , value]) => wanted !== undefined && wanted !== value)
    .map(
      ([option, wanted, setting, value]) =>
        `${option} ${wanted} was ignored: ${file} was there already, and ${setting} is ${value}; change it there`,
    );
  return [...ofSettings, ...ofOperator];
}

/** As the configuration names it: relative when both are in one folder, so that they can be moved together. */
function stateDirText({ dir, stateDir = join(dir, "var"), configFile }: InitOptions): string {
  const path = relative(resolve(dir), resolve(stateDir));
  const isInside = path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  if (configFile !== undefined || !isInside) return resolve(stateDir);
  return path === "" ? "." : `./${path}`;
}

async function ensureConfigFile(file: string, options: InitOptions): Promise<readonly string[]> {
  if (existsSync(file)) return [];
  await makeDirectoryDurably(resolve(options.dir));
  await makeDirectoryDurably(resolve(file, ".."));
  await writeFileDurably(file, configText(stateDirText(options), options));
  return [`configuration ${file}`];
}

async function ensureStateDir(stateDir: string): Promise<readonly string[]> {
  if (existsSync(stateDir)) return [];
  await makeDirectoryDurably(stateDir);
  // Whatever the umask says.
  await chmod(stateDir, 0o750);
  return [`state directory ${stateDir}`];
}

async function ensureKeys(config: Config) {
  const folder = join(config.stateDir, "keys");
  const options = { legacy: config.sftp.legacyAlgorithms };
  const missing = hostKeyFilesOf(folder, options).filter((file) => !existsSync(file));
  const keys = await ensureHostKeys(folder, options);
  return { keys, made: missing.map((file) => `SSH host key ${file}`) };
}

interface WantedUser {
  readonly userName: string;
  readonly companyCode: string;
  readonly role: Role;
  readonly password: string | undefined;
}

async function isPasswordOfMember(
  store: AdminStore,
  { userName, companyCode }: WantedUser,
  password: string,
) {
  const member = (await findUsersByName(store.read, userName)).find(({ memberships }) =>
    memberships.some((one) => isSameCompanyCode(one.companyCode, companyCode)),
  );
  return await isPasswordOf(password, member?.passwordHash ?? null);
}

/** A user that is a member already stays as it is, with its roles and its password. */
async function ensureUser(
  store: AdminStore,
  wanted: WantedUser,
): Promise<{ readonly user: InitUser; readonly made: readonly string[] }> {
  const { userName, companyCode, role, password } = wanted;
  const isMember = (user: userAdmin.ListedUser) =>
    user.userName === userName &&
    user.memberships.some((one) => isSameCompanyCode(one.companyCode, companyCode));
  if ((await userAdmin.listUsers({ store })).some(isMember)) {
    if (password === undefined) return { user: { userName }, made: [] };
    const isPasswordRight = await isPasswordOfMember(store, wanted, password);
    return { user: { userName, isPasswordRight }, made: [] };
  }
  const added = await userAdmin.addUser(
    { store, clock: systemClock },
    { userName, companyCode, roles: [role], ...given({ password }) },
  );
  const { generatedPassword } = added;
  const made = [`user ${userName} with the role ${role}`];
  const secret = generatedPassword === undefined ? { isPasswordRight: true } : { generatedPassword };
  return { user: { userName, ...secret }, made };
}

interface Passwords {
  readonly ofUser: string | undefined;
  readonly ofAdmin: string | undefined;
}

async function ensureAccount(config: Config, options: InitOptions, passwords: Passwords) {
  const use = async (store: AdminStore) => {
    const { code: companyCode, isNew, folder } = await registerCompany(store, config, options.company);
    const ofHost = {
      userName: options.user,
      companyCode,
      role: "DI_Integration",
      password: passwords.ofUser,
    } as const;
    const { user, made: madeUser } = await ensureUser(store, ofHost);
    const { admin: name } = options;
    const ofAdmin =
      name === undefined
        ? undefined
        : await ensureUser(store, {
            ...{ userName: name, companyCode, role: "MemberAdmin", password: passwords.ofAdmin },
          });
    const madeCompany = isNew ? [`company ${companyCode} with its folders in ${folder}`] : [];
    const made = [...madeCompany, ...madeUser, ...(ofAdmin?.made ?? [])];
    return { ...user, ...given({ admin: ofAdmin?.user }), companyCode, companyFolder: folder, made };
  };
  return await withAdminStore(config, use, { mayCreate: true });
}

/** A state that is made in it would have the files of another. */
async function refuseOpenRestore(stateDir: string): Promise<void> {
  if (!(await isRestoreOpen(stateDir))) return;
  throw new WrongUseError(
    `a restore to ${stateDir} is not done: run \`dropgate restore BACKUP --to ${stateDir}\` again, or name another folder`,
  );
}

async function readPasswords({ passwordFile, adminPasswordFile }: InitOptions): Promise<Passwords> {
  const ofUser = await readPasswordFile(passwordFile);
  const ofAdmin = await readPasswordFile(adminPasswordFile);
  for (const password of [ofUser, ofAdmin]) if (password !== undefined) checkPassword(password);
  return { ofUser, ofAdmin };
}

/** Where the console is, when it is anywhere. */
function consoleAddressOf({ http, console: own }: Config): string | undefined {
  const { enabled, host = http.host, port = http.port } = own;
  return enabled ? `${httpAddressOf({ ...http, host, port })}/console` : undefined;
}

/**
 * Rejects with a `DropgateError` or `WrongUseError` when a name or the password is not of the form; nothing is made then.
 */
export async function initialise(options: InitOptions): Promise<InitOutcome> {
  checkNames(options);
  const file = resolve(options.configFile ?? join(options.dir, "dropgate.yaml"));
  const passwords = await readPasswords(options);
  const madeConfig = await ensureConfigFile(file, options);
  const { env } = process;
  const loaded = await loadConfig({ path: file, env, cwd: process.cwd(), needsSecrets: false });
  if (loaded.kind === "faulty") return { kind: "faulty", file, faults: loaded.faults };
  const { config } = loaded;
  await refuseOpenRestore(config.stateDir);
  await becomeOwnerOf(config.stateDir);
  const madeState = await ensureStateDir(config.stateDir);
  const { keys, made: madeKeys } = await ensureKeys(config);
  const account = await ensureAccount(config, options, passwords);
  const { host, port, enabled } = config.sftp;
  return {
    kind: "done",
    configFile: file,
    stateDir: config.stateDir,
    ...account,
    hostKeyFingerprint: keys[0]?.fingerprint ?? "",
    http: httpAddressOf(config.http),
    ...given({ console: consoleAddressOf(config) }),
    ...(enabled ? { sftp: { host: localHostOf(host), port } } : {}),
    made: [...madeConfig, ...madeState, ...madeKeys, ...account.made],
    ignored: madeConfig.length > 0 ? [] : ignoredOptions(file, config, options),
  };
}
