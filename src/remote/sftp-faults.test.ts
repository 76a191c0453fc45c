import { describe, expect, test } from "vitest";
import { callFault, codeOf, connectionFault, sftpStatus } from "./sftp-faults.ts";
import { TransferFault } from "./transfer-fault.ts";

const where = "sftp host:22";

function withCode(code: string | number, message = "it did not work"): Error {
  return Object.assign(new Error(message), { code });
}

describe("what the library says of a connection", () => {
  test.each([
    ["All configured authentication methods failed", "credentials"],
    ["Cannot parse privateKey: Unsupported key format", "configuration"],
    ["Encrypted private OpenSSH key detected, but no passphrase given", "configuration"],
    ["Keepalive timeout", "timeout"],
    ["Timed out while waiting for handshake", "timeout"],
    ["Handshake failed: no matching key exchange algorithm", "protocol"],
    ["Connection lost before handshake", "connectionLost"],
    ["No response from server", "connectionLost"],
    ["Unexpected end event", "connectionLost"],
  ])("%j is %s, in its own words too", (message, fault) => {
    const { outcome } = connectionFault(new Error(message), where) ?? { outcome: undefined };
    expect(outcome).toMatchObject({ fault, scope: "target" });
    expect(outcome?.message).toMatch(/^sftp host:22: .+\. It was: /);
    expect(outcome?.message).toContain(message);
  });

  test("is that of the socket where the socket has a code, and what is known already stays as it is", () => {
    expect(connectionFault(withCode("ECONNREFUSED"), where)?.outcome.fault).toBe("unreachable");
    const known = new TransferFault("timeout", "known");
    expect(connectionFault(known, where)).toBe(known);
    expect(connectionFault(new Error("Failure"), where)).toBeUndefined();
  });
});

describe("the status of a call", () => {
  test("that is forbidden is permanent, and names the right: to read, or to write", () => {
    const write = callFault(withCode(sftpStatus.permissionDenied), where, "uploading a.xml");
    expect(write.outcome).toMatchObject({ fault: "notAllowed", isPermanent: true });
    expect(write.message).toContain("right to write, rename and remove");
    for (const doing of ["listing in", "downloading a.xml"])
      expect(callFault(withCode(sftpStatus.permissionDenied), where, doing).message).toContain(
        "right to read",
      );
  });

  test.each([sftpStatus.noSuchFile, "ENOENT"])("%s is a missing folder, with what to do about it", (code) => {
    const write = callFault(withCode(code), where, "uploading a.xml");
    expect(write.outcome).toMatchObject({ fault: "missingFolder", isPermanent: false, scope: "target" });
    expect(write.message).toContain("makeFolders");
    expect(callFault(withCode(code), where, "listing in").message).toContain("Check that it exists.");
  });

  test("Failure says nothing: the delivery alone is refused, and tried again", () => {
    const { outcome } = callFault(withCode(sftpStatus.failure), where, "renaming a to b");
    expect(outcome).toMatchObject({ fault: "refused", isPermanent: false, scope: "delivery" });
  });

  test("that nobody knows is one of the protocol, and a broken connection is one whatever was called", () => {
    expect(callFault(withCode(99, "odd"), where, "x").outcome.fault).toBe("protocol");
    expect(callFault(new Error("Connection lost"), where, "x").outcome.fault).toBe("connectionLost");
  });

  test("is a number or a name", () => {
    expect([codeOf(withCode(4)), codeOf(withCode("ENOENT"))]).toEqual([4, "ENOENT"]);
    for (const none of [undefined, null, "text", new Error("none"), { code: true }])
      expect(codeOf(none)).toBeUndefined();
  });
});
