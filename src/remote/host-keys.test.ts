import { describe, expect, test } from "vitest";
import { algorithmsWithout, describeKey, isPinned, unknownHost } from "./host-keys.ts";

/** That of `ssh-keygen -lf` for this public key. */
const key = Buffer.from("AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl", "base64");
const fingerprint = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU";

describe("a host key", () => {
  test("is described as ssh-keygen does", () => {
    expect(describeKey(key)).toEqual({ type: "ssh-ed25519", fingerprint });
  });

  test("is pinned by its fingerprint, with or without the name of the hash and padding", () => {
    const bare = fingerprint.replace("SHA256:", "");
    for (const pinned of [fingerprint, bare, `${bare}=`])
      expect(isPinned(describeKey(key), [pinned])).toBe(true);
    for (const pinned of [[], [""], [fingerprint.toLowerCase()], [fingerprint.slice(0, -1)]])
      expect(isPinned(describeKey(key), pinned)).toBe(false);
  });

  test("that is no key is described as well", () => {
    for (const odd of [Buffer.alloc(0), Buffer.from([255, 255, 255, 255, 1])]) {
      expect(describeKey(odd).fingerprint).toMatch(/^SHA256:/);
    }
  });

  test("of a kind that was seen is not asked for again", () => {
    expect(algorithmsWithout([])[0]).toBe("ssh-ed25519");
    const left = algorithmsWithout([
      { type: "ssh-ed25519", fingerprint: "" },
      { type: "ssh-rsa", fingerprint: "" },
    ]);
    expect(left).toEqual(["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"]);
  });

  test("that nobody has configured is told with what to configure; another one is a matter of identity", () => {
    const seen = [describeKey(key)];
    expect(unknownHost("host:22", seen, []).outcome).toMatchObject({ fault: "configuration" });
    expect(unknownHost("host:22", seen, []).message).toContain(fingerprint);
    expect(unknownHost("host:22", seen, ["SHA256:x"]).outcome).toMatchObject({ fault: "identity" });
  });
});
