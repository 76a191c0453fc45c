/**
 * Has all tests store passwords at a cost that each of them can pay; most of them sign somebody in, and are about something else.
 * Those of the hash itself import the true one with `vi.importActual`.
 */
import { vi } from "vitest";
import type * as passwordHash from "../../src/lib/password-hash.ts";
import { cheapHash } from "./cheap-hash.ts";

vi.mock("../../src/lib/password-hash.ts", async (original) => {
  const real = await original<typeof passwordHash>();
  const ofNobody = cheapHash("");
  return {
    ...real,
    hashPassword: async (password) => cheapHash(password),
    isPasswordOf: vi.fn(
      async (password: string, stored: string | null) =>
        (await real.isPasswordOf(password, stored ?? ofNobody)) && stored !== null,
    ),
  } satisfies typeof passwordHash;
});
