import { describe, expect, test } from "vitest";
import { ledgerTimeOf, pathOf, toWaitingFile, type WaitingFileSource } from "./waiting-file.ts";

const source: WaitingFileSource = {
  ...{ id: 3, companyId: 1, name: "1007_20261105_080000.xml", channel: "sftp", userName: "host" },
  ...{ path: "/srv/acme/inbound/1007_20261105_080000.xml", size: 5, sequence: 7 },
  receivedAt: Date.UTC(2026, 10, 6, 9, 8, 7, 999),
};

describe("a file that waits", () => {
  test("has its place by the time in its name, and where its bytes lie", () => {
    const file = toWaitingFile(source);
    expect(file).toEqual({
      ...{ id: 3, companyId: 1, name: "1007_20261105_080000.xml", fileName: "1007_20261105_080000.xml" },
      ...{ directory: "/srv/acme/inbound", channel: "sftp", userName: "host", size: 5, sequence: 7 },
      ...{ receivedAt: source.receivedAt, nameTime: 20261105080000 },
    });
    expect(pathOf(file)).toBe(source.path);
  });

  test("by the time of its arrival when its name has none, in UTC", () => {
    expect(toWaitingFile({ ...source, name: "orders.xml" }).nameTime).toBe(20261106090807);
  });

  test("has the name that it has in its folder, and texts of its own after another file", () => {
    const path = "/srv/beta/inbound/.again/1007_20261105_080000.xml~1";
    const other = toWaitingFile({ ...source, path, channel: "ftp", userName: "other" });
    const nobody = toWaitingFile({ ...source, userName: null });
    expect(other).toMatchObject({ directory: "/srv/beta/inbound/.again", channel: "ftp", userName: "other" });
    expect([other.name, other.fileName]).toEqual([source.name, "1007_20261105_080000.xml~1"]);
    expect(pathOf(other)).toBe(path);
    expect(nobody).toMatchObject({ directory: "/srv/acme/inbound", channel: "sftp", userName: null });
  });
});

test("the ledger keeps no time of a name that has none", () => {
  expect(ledgerTimeOf({ kind: "wrong", why: "" })).toBeNull();
  expect(ledgerTimeOf({ kind: "named", stopNbr: "1", nameTime: 20261105080000 })).toBe(20261105080000);
});
