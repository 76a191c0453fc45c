import { describe, expect, test } from "vitest";
import { faultOfRemoteName } from "./remote-file-name.ts";

describe("a name that a server tells", () => {
  test.each(["4711_20261105_080000.xml", "ä ö.xml", "x".repeat(255), "a..b", "ä".repeat(127)])(
    "%s can be that of a file",
    (name) => expect(faultOfRemoteName(name)).toBeUndefined(),
  );

  test.each([
    "",
    ".",
    "..",
    "../x.xml",
    "/etc/passwd",
    "a/b.xml",
    "a\\b.xml",
    "a\nb.xml",
    "a\u0000.xml",
    "\u007f.xml",
    "a\uFFFD.xml",
    "x".repeat(256),
    "ä".repeat(128),
  ])("%j cannot", (name) => expect(faultOfRemoteName(name)).toBeTypeOf("string"));
});
