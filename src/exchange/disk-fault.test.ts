import { expect, test } from "vitest";
import { exchangeErrorOf } from "./exchange-session.ts";
import { ExchangeError } from "./exchange-session.ts";

const thrownBy = (code: string) => Object.assign(new Error(`${code}: /var/lib/dropgate/secret`), { code });

const full = "The server's disk is full; what was received so far is kept and can be resumed";
const closed = "The server cannot write to this folder; ask its administrator";

test.each([
  ["ENOENT", "noSuchFile", "No such file"],
  ["ENOTDIR", "noSuchFile", "No such file"],
  ["ELOOP", "noSuchFile", "No such file"],
  ["EEXIST", "alreadyExists", "A file of this name exists already"],
  ["EISDIR", "isADirectory", "This is a folder"],
  ["ENAMETOOLONG", "badName", "The name is too long"],
  ["ENOSPC", "noSpace", full],
  ["EDQUOT", "noSpace", full],
  ["EFBIG", "tooLarge", "The file is larger than the server's disk allows"],
  ["EROFS", "failure", closed],
  ["EACCES", "failure", closed],
  ["EPERM", "failure", closed],
  ["EIO", "failure", "The server could not do this (EIO)"],
])("a disk that says %s is told to clients as %s, without a path of the machine", (code, kind, message) => {
  const thrown = thrownBy(code);
  expect(exchangeErrorOf(thrown)).toMatchObject({ name: "ExchangeError", kind, message, cause: thrown });
});

test("what has no code is a failure, and what clients are told already stays", () => {
  const thrown = new Error("of ours");
  expect(exchangeErrorOf(thrown)).toMatchObject({
    ...{ kind: "failure", message: "The server could not do this", cause: thrown },
  });
  const told = new ExchangeError("permissionDenied", "no");
  expect(exchangeErrorOf(told)).toBe(told);
  expect(told).not.toHaveProperty("cause");
});
