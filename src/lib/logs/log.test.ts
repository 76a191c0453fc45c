import { describe, expect, it } from "vitest";
import { createLogger } from "./log.ts";

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = "";
  const destination = {
    write: (line: string) => {
      text += line;
    },
  };
  write(createLogger({ level: "info", destination }));
  return text;
}

const secret = "geheim";

describe("the log", () => {
  it.each([
    "password",
    "passwordHash",
    "authorization",
    "Authorization",
    "secret",
    "token",
    "privateKey",
    "passphrase",
    "cookie",
  ])("never shows a %s, to a depth of three", (name) => {
    const value = { [name]: secret };
    const text = logged((log) =>
      log.info({ ...value, a: value, b: { c: value }, d: { e: { f: value } } }, "x"),
    );
    expect(text).not.toContain(secret);
    expect(text.match(/\[redacted\]/g)).toHaveLength(4);
  });

  it("redacts in the lines of a child as well, and in what the child always says", () => {
    const text = logged((log) =>
      log.child({ password: secret }).info({ headers: { authorization: secret } }, "x"),
    );
    expect(text).not.toContain(secret);
  });

  it("redacts what hangs on an error, and shows its message, code and stack", () => {
    const error = Object.assign(new Error("no way"), {
      code: "EACCES",
      password: secret,
      options: { token: secret },
    });
    const text = logged((log) => log.error({ err: error }, "x"));
    expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({ err: { type: "Error", message: "no way", code: "EACCES" } });
    expect(text).toContain("log.test.ts");
  });

  it("leaves the logged object as it is", () => {
    const fields = { password: secret, nested: { token: secret } };
    logged((log) => log.info(fields, "x"));
    expect(fields).toEqual({ password: secret, nested: { token: secret } });
  });

  it("is one JSON line an event, with level in words and time in ISO", () => {
    const text = logged((log) => {
      log.info({ file: "a\nb" }, "first\nline");
      log.warn("second");
      log.debug("not shown");
    });
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    const first: unknown = JSON.parse(lines[0] ?? "");
    expect(first).toMatchObject({ level: "info", msg: "first\nline", file: "a\nb" });
    expect(first).toHaveProperty("time", expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/));
  });
});

it("the log hides no characters of names that come from outside", () => {
  const user = "host\u202etxt\u200b";
  const text = logged((log) => log.info({ user }, "sign-in refused"));
  expect(text).toContain('"user":"host\\u202etxt\\u200b"');
  expect(JSON.parse(text)).toMatchObject({ user });
});
