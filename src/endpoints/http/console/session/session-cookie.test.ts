import { expect, test } from "vitest";
import { cookieFor, cookieRemoval, isBrowserOnTls, sessionIdIn } from "./session-cookie.ts";

const [id, other] = ["a".repeat(43), "b".repeat(43)];
const plain = { isEncrypted: false };
const encrypted = { isEncrypted: true };

test("over TLS the cookie is of this host alone, unseen by scripts and by what other sites send", () => {
  expect(cookieFor(id, true)).toBe(
    `__Host-dropgate=${id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure`,
  );
  expect(cookieRemoval(true)).toBe("__Host-dropgate=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0; Secure");
});

test("without TLS it has another name and no mark that would have the browser throw it away", () => {
  expect(cookieFor(id, false)).toBe(`dropgate-plain=${id}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200`);
});

test("the cookie of TLS goes before the other, which an encrypted connection does not take at all", () => {
  const cookie = `x=1; dropgate-plain=${other}; __Host-dropgate=${id}`;
  expect(sessionIdIn({ cookie }, plain)).toBe(id);
  expect(sessionIdIn({ cookie }, encrypted)).toBe(id);
  expect(sessionIdIn({ cookie: `dropgate-plain=${other}` }, plain)).toBe(other);
  expect(sessionIdIn({ cookie: `dropgate-plain=${other}` }, encrypted)).toBeUndefined();
});

test.each([
  undefined,
  "",
  "__Host-dropgate",
  `__Host-dropgate=${id}x`,
  "__Host-dropgate=é",
  `x__Host-dropgate=${id}`,
])("%j has no session", (cookie) => {
  expect(sessionIdIn(cookie === undefined ? {} : { cookie }, plain)).toBeUndefined();
});

test("the browser is on TLS when the connection is, or when its page is, behind a proxy", () => {
  expect(isBrowserOnTls({ origin: "http://gate.example" }, plain)).toBe(false);
  expect(isBrowserOnTls({ origin: "https://gate.example" }, plain)).toBe(true);
  expect(isBrowserOnTls({}, plain)).toBe(true);
  expect(isBrowserOnTls({ origin: "http://gate.example" }, encrypted)).toBe(true);
});
