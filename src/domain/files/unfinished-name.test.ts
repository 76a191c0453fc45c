import { expect, test } from "vitest";
import { isUnfinishedName } from "./unfinished-name.ts";

test.each([
  ".x.xml",
  "x.part",
  "x.xml.1b2c3d4e.partial",
  "x.xml.filepart",
  "x.TMP",
  "x.writing",
  "x.uploading",
  "x.crdownload",
  "x.xml~",
])("%s is unfinished", (name) => expect(isUnfinishedName(name)).toBe(true));

test.each(["x.xml", "part", "x.tmp.xml", "x.part1", "~x"])("%s is finished", (name) =>
  expect(isUnfinishedName(name)).toBe(false),
);
