import { expect, test } from "vitest";
import { isFormToken, newFormToken } from "./form-token.ts";

const [own, other] = ["a".repeat(43), "b".repeat(43)];

test("a session has a new token for each page, and all of them hold in it alone", () => {
  const tokens = Array.from({ length: 5 }, () => newFormToken(own));
  expect(new Set(tokens).size).toBe(5);
  expect(new Set(tokens.map((token) => token.slice(-20))).size).toBe(5);
  expect(tokens.map((token) => [isFormToken(own, token), isFormToken(other, token)])).toEqual(
    tokens.map(() => [true, false]),
  );
});

test("what is changed, put together from two, or none at all, is no token", () => {
  const [one = "", two = ""] = [newFormToken(own), newFormToken(own)];
  const [[salt, seal], [otherSalt]] = [one.split("."), two.split(".")];
  const wrong = [
    `${otherSalt}.${seal}`,
    `${salt}.`,
    `.${seal}`,
    `${salt}`,
    `${one}.`,
    ` ${one}`,
    "",
    ".",
    null,
  ];
  expect(wrong.filter((token) => isFormToken(own, token))).toEqual([]);
});
