import { expect, test } from "vitest";
import { fileRightsIn, folderNames, isFolderName, rightsOf } from "./folder-rights.ts";

/** What may be done with a complete file, an unfinished one and the folder itself; `p` to put into it. */
function textOf({ get, put, remove, rename }: ReturnType<typeof fileRightsIn>): string {
  return [get ? "get" : "", put ? "put" : "", remove ? "remove" : "", rename ? "rename" : ""]
    .filter((right) => right !== "")
    .join(" ");
}

test.each([
  ["inbound", "put", "put remove rename", "put"],
  ["outbound", "get remove rename", "get remove rename", ""],
  ["receipts", "get remove", "get remove", ""],
  ["archive", "get", "get", ""],
  ["error", "get remove", "get remove", ""],
] as const)(
  "in %s: %s of a file, %s of an unfinished one, %s of the folder",
  (folder, file, part, itself) => {
    const rights = ["a.xml", "a.xml.part", undefined].map((name) => textOf(fileRightsIn(folder, name)));
    expect(rights).toEqual([file, part, itself]);
  },
);

test("folders within are those of outbound, archive and error; deletions of errors are recorded, pick-ups of outbound, collected receipts", () => {
  const having = (right: "hasFolders" | "isRemovalRecorded" | "isPickupRecorded" | "hasReceipts") =>
    folderNames.filter((name) => rightsOf(name)[right]);
  expect(having("hasFolders")).toEqual(["outbound", "archive", "error"]);
  expect(having("isRemovalRecorded")).toEqual(["error"]);
  expect(having("isPickupRecorded")).toEqual(["outbound"]);
  expect(having("hasReceipts")).toEqual(["receipts", "error"]);
});

test("nothing else is a folder", () => {
  expect(["inbound", "Inbound", "done", "toString", ""].map(isFolderName)).toEqual([
    ...[true, false, false, false, false],
  ]);
});
