/** Who the server is: its host key has one of the fingerprints that are configured. */
import { createHash } from "node:crypto";
import { TransferFault } from "./transfer-fault.ts";

export interface SeenKey {
  /** `ssh-ed25519` and the like. */
  readonly type: string;
  /** `SHA256:…`, as `ssh-keygen -l` writes it. */
  readonly fingerprint: string;
}

/** What a public key in the form of SSH is. */
export function describeKey(key: Buffer): SeenKey {
  const length = key.length >= 4 ? key.readUInt32BE(0) : 0;
  const type = key.subarray(4, 4 + Math.min(length, 64)).toString("latin1");
  const digest = createHash("sha256").update(key).digest("base64");
  return { type, fingerprint: `SHA256:${digest.replaceAll("=", "")}` };
}

/** Whether a configured fingerprint is that of the key; with or without `SHA256:` and padding. */
export function isPinned(seen: SeenKey, pinned: readonly string[]): boolean {
  return pinned.some(
    (one) => `SHA256:${one.replace(/^SHA256:/i, "").replaceAll("=", "")}` === seen.fingerprint,
  );
}

/** The algorithms of host keys, in groups of one kind of key, best first. */
const groups: readonly (readonly string[])[] = [
  ["ssh-ed25519"],
  ["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
  ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
];

/**
 * The algorithms that are left when these kinds of key have been seen and were not the pinned ones: a server has several
 * keys, shows the one that we ask for first, and a fingerprint does not say of which kind it is.
 */
export function algorithmsWithout(seen: readonly SeenKey[]): readonly string[] {
  const types = new Set(seen.map(({ type }) => type));
  return groups.filter((group) => !group.some((name) => types.has(name))).flat();
}

/** The fault of a server whose keys are none of those that are configured. Nothing has been sent to it but greetings. */
export function unknownHost(
  where: string,
  seen: readonly SeenKey[],
  pinned: readonly string[],
): TransferFault {
  const shown = seen.map(({ type, fingerprint }) => `${fingerprint} (${type})`).join(", ");
  if (pinned.length === 0) {
    const words = `no host key is configured, so nothing was sent. It shows ${shown}`;
    const remedy = "compare it with what the operator of the server tells you, and put it into `hostKeys`";
    return new TransferFault("configuration", `${where}: ${words}; ${remedy}.`);
  }
  const words = `it shows another host key than those in \`hostKeys\`, so nothing was sent. It shows ${shown}`;
  const remedy = "ask its operator whether the key was changed, and put the new one into `hostKeys`";
  return new TransferFault("identity", `${where}: ${words}; ${remedy}.`);
}
