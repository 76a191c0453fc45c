import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type CurrentUpload, UploadClaims } from "./upload-claims.ts";

const attributes = { isDirectory: false, size: 1, mode: 0o640, modifiedSeconds: 1, accessedSeconds: 1 };

function uploadThat(isEnding: boolean): CurrentUpload {
  return { isEnding, change: async () => undefined, currentAttributes: () => attributes };
}

describe("a claim on an unfinished file", () => {
  test("is of one upload, until it is released", async () => {
    const claims = new UploadClaims();
    const claim = await claims.claim("/a/x.xml");
    expect(claims.isClaimed("/a/x.xml")).toBe(true);
    expect(claims.tryClaim("/a/x.xml")).toBeUndefined();
    expect(claims.tryClaim("/a/y.xml")).toBeDefined();
    const refused = {
      kind: "permissionDenied",
      message: "This file is being uploaded by another connection or handle; close that first",
    };
    await expect(claims.claim("/a/x.xml")).rejects.toMatchObject(refused);
    const upload = uploadThat(false);
    claim.attach(upload);
    expect(claims.uploadOf("/a/x.xml")).toBe(upload);
    await expect(claims.claim("/a/x.xml")).rejects.toMatchObject(refused);
    claim.release();
    expect([claims.isClaimed("/a/x.xml"), claims.uploadOf("/a/x.xml")]).toEqual([false, undefined]);
    expect(claims.tryClaim("/a/x.xml")).toBeDefined();
  });

  test("waits for an upload that is ending", async () => {
    const claims = new UploadClaims();
    const first = await claims.claim("/a/x.xml");
    first.attach(uploadThat(true));
    let isTaken = false;
    const second = claims.claim("/a/x.xml").then((claim) => {
      isTaken = true;
      return claim;
    });
    await setImmediate();
    expect(isTaken).toBe(false);
    first.release();
    await second;
    // A claim that is over releases no other.
    first.release();
    expect(claims.isClaimed("/a/x.xml")).toBe(true);
  });

  test("is found by its folder, and by no other whose path begins in the same way", async () => {
    const claims = new UploadClaims();
    for (const key of ["/a/x.xml", "/a/y.xml", "/ab/z.xml"]) await claims.claim(key);
    expect(claims.namesIn("/a")).toEqual(["x.xml", "y.xml"]);
  });
});
