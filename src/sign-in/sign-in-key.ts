/** Public keys as administrators give them: a line of OpenSSH's `authorized_keys` or of an `id_*.pub` file. */
import { createHash } from "node:crypto";
import { DropgateError } from "../lib/errors.ts";

export interface PublicKey {
  readonly keyType: string;
  /** Base64 of the SSH wire form, in its one canonical spelling. */
  readonly keyBlob: string;
  readonly comment: string;
}

const leastRsaBits = 2_048;
const acceptedTypes =
  "ssh-ed25519, ecdsa-sha2-nistp256, -nistp384, -nistp521, or ssh-rsa with at least 2048 bits";
const makeAnother = "make one with `ssh-keygen -t ed25519` and give its .pub file";

function refuse(message: string): never {
  throw new DropgateError("wrongType", message);
}

/** The length-prefixed fields of the wire form; undefined when they do not fill it exactly. */
function fieldsOf(blob: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function bitsOf(integer: Buffer): number {
  const digits = integer.toString("hex").replace(/^0+/, "");
  return digits === "" ? 0 : BigInt(`0x${digits}`).toString(2).length;
}

function faultOfEcdsa(parts: readonly Buffer[], curve: string, pointBytes: number): string | undefined {
  const [name, point] = parts;
  const isWhole = parts.length === 2 && name?.toString("latin1") === curve && point?.length === pointBytes;
  return isWhole && point?.[0] === 4 ? undefined : "it is damaged";
}

function faultOfRsa(parts: readonly Buffer[]): string | undefined {
  const [exponent, modulus] = parts;
  if (parts.length !== 2 || exponent === undefined || modulus === undefined) return "it is damaged";
  const bits = bitsOf(modulus);
  return bits >= leastRsaBits && bits <= 16_384 ? undefined : `it has ${bits} bits`;
}

type KeyForm = (parts: readonly Buffer[]) => string | undefined;

const keyForms: Readonly<Record<string, KeyForm>> = {
  "ssh-ed25519": (parts) => (parts.length === 1 && parts[0]?.length === 32 ? undefined : "it is damaged"),
  "ecdsa-sha2-nistp256": (parts) => faultOfEcdsa(parts, "nistp256", 65),
  "ecdsa-sha2-nistp384": (parts) => faultOfEcdsa(parts, "nistp384", 97),
  "ecdsa-sha2-nistp521": (parts) => faultOfEcdsa(parts, "nistp521", 133),
  "ssh-rsa": faultOfRsa,
};

function onlyLineOf(text: string): string {
  if (text.includes("PRIVATE KEY")) {
    refuse(
      "this is a private key, which stays with its owner: give the public one, the file that ends in .pub",
    );
  }
  if (text.includes("BEGIN SSH2 PUBLIC KEY")) {
    refuse(
      "this public key is in the SSH2 form: turn it into the form of OpenSSH with `ssh-keygen -i -f FILE`",
    );
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const [line] = keys;
  if (line === undefined) refuse(`there is no public key in it: ${makeAnother}`);
  if (keys.length > 1) refuse(`there are ${keys.length} public keys in it: add them one by one`);
  return line;
}

/**
 * Reads one public key. Rejects with `wrongType` what is no key of an accepted type, naming the remedy. Options before
 * the key (`from="…"`) are refused: to ignore a restriction in silence would widen what its owner allowed.
 */
export function parsePublicKey(text: string): PublicKey {
  const [keyType = "", base64 = "", ...comment] = onlyLineOf(text).split(/[ \t]+/);
  const form = Object.hasOwn(keyForms, keyType) ? keyForms[keyType] : undefined;
  if (form === undefined) {
    const isOption =
      !/^(ssh-|ecdsa-|sk-)/.test(keyType) && /(^| )(ssh-|ecdsa-|sk-)/.test([base64, ...comment].join(" "));
    if (isOption) {
      refuse("the line begins with options, which have no effect here: give the line without them");
    }
    refuse(`\`${keyType.slice(0, 60)}\` is not accepted: use ${acceptedTypes}; ${makeAnother}`);
  }
  const blob = Buffer.from(base64, "base64");
  const [name, ...parts] = fieldsOf(blob) ?? [];
  const fault = name?.toString("latin1") === keyType ? form(parts) : "it is damaged";
  if (fault !== undefined)
    refuse(`this ${keyType} key is not accepted, ${fault}: use ${acceptedTypes}; ${makeAnother}`);
  return { keyType, keyBlob: blob.toString("base64"), comment: comment.join(" ").slice(0, 200) };
}

/** The fingerprint as `ssh-keygen -l` shows it. */
export function fingerprintOf(keyBlob: string): string {
  const digest = createHash("sha256").update(Buffer.from(keyBlob, "base64")).digest("base64");
  return `SHA256:${digest.replace(/=+$/, "")}`;
}
