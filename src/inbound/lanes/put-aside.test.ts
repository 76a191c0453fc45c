import { expect, it } from "vitest";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { canBeReadSoon, putAside, unreadableFault, unreadSizeOf } from "./put-aside.ts";

const settings = { settleMs: 2_000, incompleteGraceMs: 600_000, giveUpAfterMs: 3_600_000 };
const unreadable = (systemCode: string, message = "") =>
  ({ kind: "unreadable", systemCode, message }) as const satisfies PreparedDocument;
const unstorable: PreparedDocument = {
  kind: "unreadable",
  systemCode: "ENOSPC",
  message: "",
  isOfStore: true,
};
const refused = (isIncomplete: boolean): PreparedDocument => ({
  kind: "refused",
  sha256: "",
  size: 1,
  faults: [],
  isIncomplete,
});

it.each([
  ["a forbidden file", unreadable("EACCES"), "folder", 0, 0, ["unreadable", 2_000]],
  ["a forbidden file, the third time", unreadable("EACCES"), "sftp", 2, 0, ["unreadable", 8_000]],
  [
    "a forbidden file after half an hour",
    unreadable("EACCES"),
    "sftp",
    30,
    1_800_000,
    ["unreadable", 60_000],
  ],
  ["a forbidden file after an hour", unreadable("EACCES"), "sftp", 60, 3_600_000, undefined],
  [
    "a missing file that was looked for a few times",
    unreadable("ENOENT"),
    "sftp",
    5,
    62_000,
    ["unreadable", 60_000],
  ],
  ["a file that stays missing for an hour", unreadable("ENOENT"), "sftp", 60, 3_600_000, undefined],
  [
    "a file without a descriptor to open it, after hours",
    unreadable("EMFILE"),
    "sftp",
    99,
    9e6,
    ["machine", 60_000],
  ],
  [
    "a file whose documents the disk does not take, after hours",
    unstorable,
    "sftp",
    99,
    9e6,
    ["store", 60_000],
  ],
  ["a file that the parser fails at", unreadable("internal"), "sftp", 0, 0, ["internal", 2_000]],
  ["the same after an hour", unreadable("internal"), "sftp", 60, 3_600_000, undefined],
  ["a link", unreadable("ELOOP"), "folder", 0, 0, undefined],
  ["a device", unreadable("ENOTREG"), "folder", 0, 0, undefined],
  ["a file of a folder that ends in the middle", refused(true), "folder", 0, 0, ["incomplete", 2_000]],
  ["the same found at the start", refused(true), "recovered", 1, 0, ["incomplete", 4_000]],
  ["the same after its time", refused(true), "folder", 3, 600_000, undefined],
  ["the same from a client that closed it", refused(true), "sftp", 0, 0, undefined],
  ["a faulty file", refused(false), "folder", 0, 0, undefined],
] as const)(
  "%s is looked at again after the right pause or decided about",
  (_, prepared, channel, looks, age, aside) => {
    const file = { name: "a_20261105_080000.xml", channel, looks, receivedAt: 0 };
    const found = putAside(file, prepared, { settings, now: age, stalledForMs: age });
    expect(found === undefined ? undefined : [found.reason, found.pauseMs]).toEqual(aside);
  },
);

it("a file whose name is refused anyway is not waited for", () => {
  const file = { name: "readme.txt", channel: "folder", looks: 0, receivedAt: 0 } as const;
  expect(putAside(file, refused(true), { settings, now: 0, stalledForMs: 0 })).toBeUndefined();
});

it.each([
  ["a file without a descriptor to open it", unreadable("EMFILE"), true],
  ["a file that is not there", unreadable("ENOENT"), true],
  ["a link", unreadable("ELOOP"), false],
  ["a device", unreadable("ENOTREG"), false],
  ["a faulty document", refused(true), false],
])("whether %s may be readable in a moment is known", (_, prepared, isSoon) => {
  expect(canBeReadSoon(prepared)).toBe(isSoon);
});

it.each([
  ["EACCES", "internal", "a.xml could not be read (EACCES: why): let the user of dropgate read it", 7],
  ["internal", "internal", "why", 7],
  ["ENOENT", "badFileName", "it was removed before it was read; send it again", 0],
  ["ENOTDIR", "badFileName", "it was removed before it was read; send it again", 0],
  ["ELOOP", "badFileName", "it is not a regular file; send it again", 0],
  ["ENOTREG", "badFileName", "it is not a regular file; send it again", 0],
] as const)(
  "the refusal of an unread file (%s) says why, and how many bytes it had",
  (systemCode, code, text, size) => {
    const prepared = unreadable(systemCode, "why");
    const fault = unreadableFault("a.xml", prepared);
    expect([fault.code, unreadSizeOf({ size: 7 }, prepared)]).toEqual([code, size]);
    expect(fault.message).toContain(text);
  },
);
