import { describe, expect, test } from "vitest";
import { anyFault, networkFault } from "./network-faults.ts";
import { failedBy, outcomeOf, quoted, TransferFault } from "./transfer-fault.ts";

const withCode = (code: string) => Object.assign(new Error(`it said ${code}`), { code });

describe("what the other side said", () => {
  test("is one line without control characters", () =>
    expect(quoted("a\r\n\tb\0\u2028c\u009b31m ")).toBe("a b c 31m"));

  test("is cut at 300 characters", () => expect(quoted("x".repeat(1_000))).toBe(`${"x".repeat(300)}…`));

  test("has no secrets of ours, also not at the cut", () => {
    const text = `${"x".repeat(295)}hunter2 and s3`;
    expect(quoted(text, ["hunter2", undefined, ""])).not.toContain("hunt");
  });
});

describe("a fault", () => {
  test("is permanent when no attempt changes anything until somebody acts", () => {
    const permanent = (["credentials", "refused", "content", "notAllowed"] as const).map((fault) =>
      failedBy(fault, ""),
    );
    expect(permanent.every((outcome) => outcome.isPermanent)).toBe(true);
    const waiting = (["identity", "missingFolder", "noSpace", "timeout", "configuration"] as const).map(
      (fault) => failedBy(fault, ""),
    );
    expect(waiting.some((outcome) => outcome.isPermanent)).toBe(false);
  });

  test("that is no fault of the other side goes on", () => {
    const bug = new TypeError("undefined is not a function");
    expect(() => outcomeOf(bug)).toThrow(bug);
  });

  test.each([
    ["ECONNREFUSED", "unreachable"],
    ["ENOTFOUND", "unreachable"],
    ["EHOSTUNREACH", "unreachable"],
    ["ECONNRESET", "connectionLost"],
    ["CERT_HAS_EXPIRED", "identity"],
    ["CERT_CHAIN_TOO_LONG", "identity"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "identity"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "credentials"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "protocol"],
    ["ERR_OSSL_PEM_NO_START_LINE", "configuration"],
  ])("of a socket, %s, is %s, and its message says where and what", (code, fault) => {
    const { outcome } = networkFault(withCode(code), "host:22") ?? new TransferFault("content", "none");
    expect(outcome.fault).toBe(fault);
    expect(outcome.message).toMatch(/^host:22: .+\.$/);
    expect(outcome.message).toContain(code);
  });

  test("of a library that nobody knows is one of the protocol, without secrets", () => {
    expect(networkFault(new Error("odd"), "host:22")).toBeUndefined();
    const { outcome } = anyFault(new Error("odd: hunter2"), "host:22", ["hunter2"]);
    expect(outcome).toMatchObject({ fault: "protocol", scope: "target", message: "host:22: odd: ***" });
  });
});
