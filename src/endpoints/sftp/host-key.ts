/**
 * The keys by which clients recognise this server, made once and kept: to clients a changed key looks like an attack.
 */
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import ssh2 from "ssh2";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";
import { DropgateError, systemCodeOf } from "../../lib/errors.ts";
import { OperatorError } from "../../lib/operator-error.ts";

export interface HostKey {
  /** `ssh-ed25519` or `ssh-rsa`. */
  readonly type: string;
  /** The private key as PEM: OpenSSH's own form for ed25519, PKCS#1 for RSA. */
  readonly pem: string;
  /** As `ssh-keygen -l` shows it: `SHA256:…`. */
  readonly fingerprint: string;
  /** The line for a client's `known_hosts`, without the host. */
  readonly publicLine: string;
}

const rsaBits = 3072;

const fileNames = { ed25519: "ssh_host_ed25519_key", rsa: "ssh_host_rsa_key" } as const;
type HostKeyKind = keyof typeof fileNames;

/** Reads a private key. Throws when it is none, or encrypted. */
function parseHostKey(pem: string): HostKey {
  const key = ssh2.utils.parseKey(pem);
  if (key instanceof Error || !key.isPrivateKey()) {
    const reason = key instanceof Error ? key.message : "it holds a public key";
    throw new DropgateError("internal", `the host key is not a private key: ${reason}`);
  }
  const blob = key.getPublicSSH();
  const digest = createHash("sha256").update(blob).digest("base64").replace(/=+$/, "");
  const publicLine = `${key.type} ${blob.toString("base64")}`;
  return { type: key.type, pem, fingerprint: `SHA256:${digest}`, publicLine };
}

function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Writes a key as OpenSSH does (its file PROTOCOL.key): magic, no cipher, one public key, the private part. */
function openSshPem(publicKey: Buffer, seed: Buffer): string {
  const type = sshString("ssh-ed25519");
  const one = Buffer.from([0, 0, 0, 1]);
  // Two equal numbers, by which a reader sees that a decryption worked; nothing is encrypted here.
  const check = randomBytes(4);
  const pair = sshString(Buffer.concat([seed, publicKey]));
  const fields = Buffer.concat([check, check, type, sshString(publicKey), pair, sshString("")]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7]).subarray(0, (8 - (fields.length % 8)) % 8);
  const whole = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    sshString("none"),
    sshString("none"),
    sshString(""),
    one,
    sshString(Buffer.concat([type, sshString(publicKey)])),
    sshString(Buffer.concat([fields, padding])),
  ]);
  const lines = whole.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join(
    "\n",
  );
}

/**
 * Makes the key every client of today knows. Not with the SSH library's generator: it drops a leading zero byte, so
 * that 1 key in 256 cannot be read.
 */
export function generateEd25519HostKey(): HostKey {
  const { x, d } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  if (x === undefined || d === undefined) throw new DropgateError("internal", "no ed25519 key could be made");
  return parseHostKey(openSshPem(Buffer.from(x, "base64url"), Buffer.from(d, "base64url")));
}

/** Makes a key for old clients; only for `sftp.legacyAlgorithms`. Takes up to a second. */
export function generateRsaHostKey(): HostKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: rsaBits });
  return parseHostKey(privateKey.export({ type: "pkcs1", format: "pem" }).toString());
}

async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, "0");
      throw new OperatorError(`host key ${path} has mode ${shown}: others can use it; chmod 600 it`);
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the keys one after the other; a missing one comes from `instead`. */
async function readAll(
  directory: string,
  options: HostKeyOptions,
  instead: (path: string, kind: HostKeyKind) => Promise<HostKey>,
): Promise<readonly HostKey[]> {
  const keys: HostKey[] = [];
  for (const kind of kindsFor(options)) {
    const path = join(directory, fileNames[kind]);
    const pem = await readKeyFile(path);
    keys.push(pem === undefined ? await instead(path, kind) : parseHostKey(pem));
  }
  return keys;
}

async function makeHostKey(path: string, kind: HostKeyKind): Promise<HostKey> {
  const made = kind === "ed25519" ? generateEd25519HostKey() : generateRsaHostKey();
  await writeFileDurably(path, made.pem, 0o600);
  return made;
}

function kindsFor({ legacy }: HostKeyOptions): readonly HostKeyKind[] {
  return legacy ? ["ed25519", "rsa"] : ["ed25519"];
}

export interface HostKeyOptions {
  /** Also a key for old clients, which know RSA alone. */
  readonly legacy: boolean;
}

/**
 * Reads the host keys of a directory, and makes missing ones (mode 0600; the directory 0700). Rejects when others can read a
 * key.
 */
export async function ensureHostKeys(folder: string, options: HostKeyOptions): Promise<readonly HostKey[]> {
  await makeDirectoryDurably(folder);
  await chmod(folder, 0o700);
  return await readAll(folder, options, makeHostKey);
}

/** The files of the host keys of a server with these options. */
export function hostKeyFilesOf(directory: string, options: HostKeyOptions): readonly string[] {
  return kindsFor(options).map((kind) => join(directory, fileNames[kind]));
}

/** What to do about a missing host key. */
export const missingHostKeyRemedy =
  "restore it from a backup, because clients refuse a server whose key changed; only `dropgate init`, run again " +
  "with its company and user, makes a new one";

/** Reads the host keys of a directory. Rejects when one is missing, or when others can read it. */
export async function readHostKeys(directory: string, options: HostKeyOptions): Promise<readonly HostKey[]> {
  return await readAll(directory, options, async (path) => {
    throw new OperatorError(`the SSH host key ${path} is missing: ${missingHostKeyRemedy}`);
  });
}
