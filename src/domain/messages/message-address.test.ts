import { describe, expect, test } from "vitest";
import { addressKey, readAddress, veiledAddress } from "./message-address.ts";

describe("an e-mail address", () => {
  test.each([" ann@example.com ", "a.b+c@mail.example.co.uk", "o'neil@example.com", "root@localhost"])(
    "%j is one",
    (text) => expect(readAddress("email", text)).toBe(text.trim()),
  );

  test.each([
    ...["", "ann", "@example.com", "ann@", "ann@@example.com", "a@b@example.com", "ann@example..com"],
    ...["Ann <ann@example.com>", "ann@example.com, eve@evil.example", "ann@example.com;eve@evil.example"],
    ...['"ann"@example.com', '"eve@evil.example"@example.com', "ann@[127.0.0.1]", "ann@-example.com"],
    ...[
      "ann@exa mple.com",
      "ann@example.com\r\nBcc: eve@evil.example",
      "ann@example.com>",
      "jürgen@example.com",
    ],
    ...[".ann@example.com", "ann.@example.com", `${"a".repeat(65)}@example.com`, `a@${"b.".repeat(130)}com`],
  ])("%j is none", (text) => expect(readAddress("email", text)).toBeUndefined());
});

describe("a number", () => {
  test.each([
    ["+49 (170) 123-4567", "+491701234567"],
    ["0170/1234567", "01701234567"],
    ["555.123.4567", "5551234567"],
  ])("%j is sent to as %s", (text, to) => expect(readAddress("sms", text)).toBe(to));

  test.each(["", "1234", "call me", "+49 170 12x", "++4917012345", "1".repeat(21), "+49170,+49171"])(
    "%j is none",
    (text) => expect(readAddress("sms", text)).toBeUndefined(),
  );
});

test.each([
  ["Ann@Example.com ", "ann@example.com"],
  ["+49 170-123", "+49170123"],
])("%j and %j are the same", (one, other) => expect(addressKey(one)).toBe(addressKey(other)));

test.each([
  ["ann@example.com", "a…@example.com"],
  ["+491701234567", "…567"],
  ["@", "…@"],
])("%s is shown as %s", (text, shown) => expect(veiledAddress(text)).toBe(shown));
