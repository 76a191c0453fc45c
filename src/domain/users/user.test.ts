import { expect, test } from "vitest";
import { isUserName, userNameForm, validateUser } from "./user.ts";

test.each([".", "..", "...", "../../x", "h/x", "/"])(
  "%j is no name of a user: it reads as a path",
  (userName) => {
    expect(isUserName(userName)).toBe(false);
    const [fault] = validateUser({ userName }, "users[0]");
    expect(fault).toMatchObject({ code: "wrongType", path: "users[0].userName" });
    expect(fault?.message).toContain(userNameForm);
  },
);

test.each(["h\u043est", "\u0420aul", "\u03bfrder", "host\u3164", "ho\u200bst", "host\u202e", "ho\ufe0fst"])(
  "%j is no name of a user: it looks like another one",
  (userName) => expect(isUserName(userName)).toBe(false),
);

test.each([
  "\u0441\u043a\u043b\u0430\u0434",
  "\u6771\u4eac 1",
  "host",
  "acme.host",
  ".host",
  "host..",
  "a b",
  "ACME\\svc",
  "h\u00e4ns",
  "x@acme.com",
])("%j is a name of a user", (userName) => {
  expect(isUserName(userName)).toBe(true);
  expect(validateUser({ userName }, "users[0]")).toEqual([]);
});
