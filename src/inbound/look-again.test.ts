import { expect, it } from "vitest";
import type { PreparedDocument } from "../documents/prepared-document.ts";
import { pauseBeforeNextLook } from "./look-again.ts";

const settings = { settleMs: 2_000, incompleteGraceMs: 600_000 };
const unreadable = (systemCode: string): PreparedDocument => ({
  kind: "unreadable",
  systemCode,
  message: "",
});
const refused = (isIncomplete: boolean): PreparedDocument => ({
  kind: "refused",
  sha256: "",
  size: 1,
  faults: [],
  isIncomplete,
});

it.each([
  ["a forbidden file", unreadable("EACCES"), "folder", 0, 0, 2_000],
  ["a forbidden file, the third time", unreadable("EACCES"), "sftp", 2, 0, 8_000],
  ["a forbidden file after hours", unreadable("EACCES"), "sftp", 500, 10_000_000, 60_000],
  ["a missing file", unreadable("ENOENT"), "sftp", 0, 0, 2_000],
  ["a file that stays missing", unreadable("ENOENT"), "sftp", 2, 0, undefined],
  ["a link", unreadable("ELOOP"), "folder", 0, 0, undefined],
  ["a device", unreadable("ENOTREG"), "folder", 0, 0, undefined],
  ["a file of a folder that ends in the middle", refused(true), "folder", 0, 0, 2_000],
  ["the same found at the start", refused(true), "recovered", 1, 0, 4_000],
  ["the same after its time", refused(true), "folder", 3, 600_000, undefined],
  ["the same from a client that closed it", refused(true), "sftp", 0, 0, undefined],
  ["a faulty file", refused(false), "folder", 0, 0, undefined],
] as const)(
  "%s is looked at again after the right pause or decided about",
  (_, prepared, channel, looks, age, pause) => {
    const file = { name: "a_20261105_080000.xml", channel, looks, receivedAt: 0 };
    expect(pauseBeforeNextLook(file, prepared, { settings, now: age })).toBe(pause);
  },
);

it("a file whose name is refused anyway is not waited for", () => {
  const file = { name: "readme.txt", channel: "folder", looks: 0, receivedAt: 0 } as const;
  expect(pauseBeforeNextLook(file, refused(true), { settings, now: 0 })).toBeUndefined();
});
