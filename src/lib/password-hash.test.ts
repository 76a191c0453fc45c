import { scryptSync } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type * as passwordHash from "./password-hash.ts";

const { hashPassword, isPasswordOf, newPassword } =
  await vi.importActual<typeof passwordHash>("./password-hash.ts");

describe("a hashed password", () => {
  it("has the cost, a salt of 16 bytes and the scrypt hash of the password", async () => {
    const stored = await hashPassword("open sesame");
    const [scheme, log2N, r, p, salt = "", hash] = stored.split("$");
    expect([scheme, log2N, r, p]).toEqual(["scrypt", "15", "8", "1"]);
    const saltBytes = Buffer.from(salt, "base64");
    expect(saltBytes).toHaveLength(16);
    const expected = scryptSync("open sesame", saltBytes, 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 27 });
    expect(hash).toBe(expected.toString("base64"));
  });

  it("is of this password and of no other", async () => {
    const stored = await hashPassword("open sesame");
    expect(await isPasswordOf("open sesame", stored)).toBe(true);
    expect(await isPasswordOf("open sesame!", stored)).toBe(false);
  });

  it("differs each time", async () => {
    expect(await hashPassword("open sesame")).not.toBe(await hashPassword("open sesame"));
  });

  it("takes composed and decomposed characters for the same", async () => {
    expect(await isPasswordOf("Scha\u0308fer", await hashPassword("Sch\u00e4fer"))).toBe(true);
  });

  it("with a NUL is nobody's, although scrypt takes NULs at the end for nothing", async () => {
    const stored = await hashPassword("open sesame");
    for (const password of ["open sesame\0", "open sesame\0\0", "\0"]) {
      expect(await isPasswordOf(password, stored)).toBe(false);
    }
  });

  it("takes as long for nobody", async () => {
    const stored = await hashPassword("open sesame");
    const timeFor = async (whose: string | null) => {
      const before = process.cpuUsage();
      for (let times = 0; times < 3; times += 1) await isPasswordOf("wrong", whose);
      return process.cpuUsage(before).user;
    };
    const [somebody, nobody] = [await timeFor(stored), await timeFor(null)];
    expect(nobody).toBeLessThan(somebody * 1.75);
    expect(somebody).toBeLessThan(nobody * 1.75);
  });

  it.each([
    ["nobody", null],
    ["an unknown scheme", "bcrypt$x"],
    ["a hash that is cut off", "scrypt$15$8$1$AAAAAAAAAAAAAAAAAAAAAA==$AAAA"],
    ["a cost that no machine bears", `scrypt$31$8$1$${"A".repeat(24)}$${"A".repeat(44)}`],
  ])("of %s is nobody's", async (_, stored) => {
    expect(await isPasswordOf("", stored)).toBe(false);
  });
});

it("a generated password has four groups and comes once", () => {
  expect(newPassword()).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/);
  expect(newPassword()).not.toBe(newPassword());
});
