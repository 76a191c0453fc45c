import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fingerprintOf, parsePublicKey } from "./sign-in-key.ts";

function field(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

function line(type: string, ...fields: (Uint8Array | string)[]): string {
  return `${type} ${Buffer.concat([type, ...fields].map(field)).toString("base64")} host@example`;
}

function rsaLine(modulusLength: number): string {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength });
  const modulus = Buffer.from(publicKey.export({ format: "jwk" }).n ?? "", "base64url");
  return line("ssh-rsa", Buffer.from([1, 0, 1]), Buffer.concat([Buffer.alloc(1), modulus]));
}

const sample =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example.com";

describe("a public key", () => {
  it("is taken with its type, its wire form and its comment", () => {
    const key = parsePublicKey(`# the host's key\n${sample}\n`);
    expect(key).toEqual({
      keyType: "ssh-ed25519",
      keyBlob: "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl",
      comment: "me@example.com",
    });
    expect(fingerprintOf(key.keyBlob)).toBe("SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
  });

  it.each([
    ["ecdsa-sha2-nistp256", "nistp256", 65],
    ["ecdsa-sha2-nistp384", "nistp384", 97],
    ["ecdsa-sha2-nistp521", "nistp521", 133],
  ])("of type %s is taken", (type, curve, pointBytes) => {
    const point = Buffer.alloc(pointBytes, 7);
    point[0] = 4;
    expect(parsePublicKey(line(type, curve, point)).keyType).toBe(type);
  });

  it("of RSA is taken with 2048 bits and refused with 1024", () => {
    expect(parsePublicKey(rsaLine(2_048)).keyType).toBe("ssh-rsa");
    expect(() => parsePublicKey(rsaLine(1_024))).toThrow(/1024 bits.*at least 2048/);
  });

  it.each([
    [
      "a private key",
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----",
      /\.pub/,
    ],
    ["the SSH2 form", "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA", /ssh-keygen -i/],
    ["DSA", "ssh-dss AAAAB3NzaC1kc3MAAACB x", /`ssh-dss` is not accepted.*ssh-keygen -t ed25519/],
    ["a security key", "sk-ssh-ed25519@openssh.com AAAAGnNr my ssh-key", /is not accepted/],
    ["options", `from="10.0.0.1" ${sample}`, /options/],
    ["an option without a value", `no-pty ${sample}`, /options/],
    ["nothing", " \n# only a comment\n", /no public key/],
    ["two keys", `${sample}\n${sample}`, /one by one/],
    ["a cut-off key", sample.slice(0, 60), /damaged/],
    ["a key that is not what it says", line("ssh-ed25519", "x").replace("ssh-ed25519", "ssh-rsa"), /damaged/],
    ["another curve than it says", line("ecdsa-sha2-nistp256", "nistp384", Buffer.alloc(65, 4)), /damaged/],
    ["the name of an inherited property", "constructor AAAA", /is not accepted/],
  ])("is refused with the remedy when it is %s", (_, text, message) => {
    expect(() => parsePublicKey(text)).toThrow(message);
  });
});
