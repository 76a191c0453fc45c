import { describe, expect, test } from "vitest";
import { componentsOf, isShownName } from "./client-path.ts";

const fault = (message: string) => expect.objectContaining({ kind: "badName", message });

describe("a path of a client", () => {
  test.each([
    ["", []],
    ["/", []],
    ["/inbound//a.xml/", ["inbound", "a.xml"]],
    ["./inbound/./a.xml", ["inbound", "a.xml"]],
    ["/inbound/../error/a.xml", ["error", "a.xml"]],
    ["../../a.xml", ["a.xml"]],
    ["/.a/..b/...", [".a", "..b", "..."]],
    ["/inbound/ä 漢.xml", ["inbound", "ä 漢.xml"]],
  ])("%j has the components %j", (path, components) => {
    expect(componentsOf(path)).toEqual(components);
  });

  test.each(["a\u0000b", "a\u001fb", "a\u007fb", "a\\b", "a\ufffdb", "a\ud800b"])(
    "with a character that names do not have (%j) is refused",
    (path) => {
      expect(() => componentsOf(path)).toThrow(
        fault("The name has a control character, a backslash or bytes that are not UTF-8; use a plain name"),
      );
    },
  );

  test("has names of at most 255 bytes and 1,024 bytes in all", () => {
    const longest = "ä".repeat(127);
    expect(componentsOf(`${longest}x/y`)).toEqual([`${longest}x`, "y"]);
    expect(() => componentsOf(`${longest}xy`)).toThrow(fault("The name is longer than 255 bytes"));
    expect(componentsOf("a/".repeat(512))).toHaveLength(512);
    expect(() => componentsOf(`${"a/".repeat(512)}b`)).toThrow(fault("The path is longer than 1024 bytes"));
  });
});

test("a listing shows what a client can send back, and nothing hidden", () => {
  expect(["a.xml", "a b", ".a", "a\\b", "a\ufffd"].map(isShownName)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
