import { expect, test } from "vitest";
import { plainFingerprint } from "./server-settings.ts";

test.each(["AB:CD:01", "abcd01", "SHA256:ab:cd:01", "sha256=ABCD01"])(
  "%s is the fingerprint ABCD01 of a certificate",
  (written) => expect(plainFingerprint(written)).toBe("ABCD01"),
);
