import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FTPError } from "basic-ftp";
import { describe, expect, test } from "vitest";
import { type FtpAction, ftpFault } from "./ftp-faults.ts";

/** What the library throws when the data connection closes while a file goes over it. */
async function prematureClose(): Promise<unknown> {
  const connection = new PassThrough();
  const sending = pipeline(Readable.from(["some", "more"]), connection);
  connection.destroy();
  return await sending.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a data connection that closes in the middle of a file is a broken connection, perhaps of a full disk", async () => {
  const fault = ftpFault(await prematureClose(), "ftp host", { action: "uploading", what: "a.xml" });
  expect(fault.outcome).toMatchObject({ fault: "connectionLost", isPermanent: false, scope: "target" });
  expect(fault.message).toMatch(/^ftp host: uploading a\.xml: the data connection broke; .*no space left/);
});

function replied(code: number, message: string, action: FtpAction = "uploading") {
  return ftpFault(new FTPError({ code, message: `${code} ${message}` }), "ftp host", {
    action,
    what: "a.xml",
  });
}

describe("the reply of a server", () => {
  test.each([
    [421, "Too many connections", "busy", "target"],
    [425, "Cannot open data connection", "connectionLost", "target"],
    [450, "File busy", "busy", "delivery"],
    [451, "Local error", "busy", "delivery"],
    [452, "Insufficient storage", "noSpace", "target"],
    [500, "What?", "protocol", "target"],
    [522, "TLS session of data connection not resumed", "protocol", "target"],
    [530, "Login incorrect", "credentials", "target"],
    [530, "Non-anonymous sessions must use encryption", "configuration", "target"],
    [534, "Policy requires SSL", "configuration", "target"],
    [550, "Permission denied", "notAllowed", "target"],
    [552, "Quota exceeded", "noSpace", "target"],
    [553, "Could not create file: no space left on device", "noSpace", "target"],
  ] as const)("%i %s is %s of the %s", (code, message, fault, scope) => {
    const { outcome } = replied(code, message);
    expect(outcome).toMatchObject({ fault, scope });
    expect(outcome.message).toMatch(/^ftp host: uploading a\.xml: .+\. It said: \d{3} /);
  });

  test("550 to a change of folder is a missing folder, unless it is one that may not be entered", () => {
    expect(replied(550, "Failed to change directory.", "entering").outcome.fault).toBe("missingFolder");
    expect(replied(550, "No such file or access denied", "entering").outcome.fault).toBe("missingFolder");
    expect(replied(550, "Permission denied", "entering").outcome.fault).toBe("notAllowed");
  });

  test("550 names the right that is missing: to read, or to write", () => {
    for (const action of ["listing", "downloading"] as const)
      expect(replied(550, "Permission denied", action).message).toContain("right to read there");
    expect(replied(550, "Permission denied", "renaming").message).toContain("right to write, rename");
  });

  test("is told without the secrets of the sign-in", () => {
    const echoed = new FTPError({ code: 530, message: "530 hunter2 is wrong" });
    const fault = ftpFault(echoed, "ftp host", { action: "signing in", what: "", secrets: ["hunter2"] });
    expect(fault.message).toContain("ftp host: signing in: ");
    expect(fault.message).not.toContain("hunter2");
  });
});

describe("a connection of the library", () => {
  test.each([
    ["Timeout (control socket)", "timeout"],
    ["Server sent FIN packet unexpectedly, closing connection.", "connectionLost"],
    ["Client is closed because of something", "connectionLost"],
    ["something odd", "protocol"],
  ])("that ends with %j is %s of the target", (message, fault) => {
    const found = ftpFault(new Error(message), "ftp host", { action: "looking", what: "a.xml" });
    expect(found.outcome).toMatchObject({ fault, scope: "target" });
  });

  test("for data that is cut may mean a full disk, which one of commands does not", () => {
    const cut = (message: string, action: FtpAction) => {
      const error = Object.assign(new Error(message), { code: "ECONNRESET" });
      return ftpFault(error, "ftp host", { action, what: "a.xml" }).message;
    };
    expect(cut("read ECONNRESET (data socket)", "uploading")).toContain("no space left");
    expect(cut("read ECONNRESET (control socket)", "uploading")).not.toContain("no space left");
    expect(cut("read ECONNRESET (data socket)", "signing in")).not.toContain("no space left");
  });

  test("that falls out of TLS is a broken one, but at the sign-in the wrong port", () => {
    const error = Object.assign(new Error("wrong version number"), { code: "ERR_SSL_WRONG_VERSION_NUMBER" });
    const at = (action: FtpAction) => ftpFault(error, "ftp host", { action, what: "" }).outcome.fault;
    expect([at("signing in"), at("uploading")]).toEqual(["protocol", "connectionLost"]);
  });
});
