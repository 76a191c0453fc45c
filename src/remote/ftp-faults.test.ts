import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { ftpFault } from "./ftp-faults.ts";

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
