/** The hashes of passwords as tests have them, with a spy on those of sign-ins. */
import { vi } from "vitest";
import type * as passwordHash from "../../src/lib/password-hash.ts";
import { cheapHash } from "./cheap-hash.ts";

let made: Promise<typeof passwordHash> | undefined;

async function make(original: () => Promise<typeof passwordHash>): Promise<typeof passwordHash> {
  const real = await original();
  const ofNobody = cheapHash("");
  return {
    ...real,
    hashPassword: async (password) => cheapHash(password),
    isPasswordOf: vi.fn(
      async (password: string, stored: string | null) =>
        (await real.isPasswordOf(password, stored ?? ofNobody)) && stored !== null,
    ),
  };
}

/** The same for all files of a process: what one has loaded calls the spy that the next one asks. */
export function mockedHashes(original: () => Promise<typeof passwordHash>): Promise<typeof passwordHash> {
  made ??= make(original);
  return made;
}
