/** A password as it is stored, at next to no cost. */
import { randomBytes, scryptSync } from "node:crypto";

const log2N = 4;
const [r, p] = [8, 1];

/** For `isPasswordOf` of `src/lib/password-hash.ts`, which takes the cost from what is stored. */
export function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password.normalize("NFC"), salt, 32, { N: 2 ** log2N, r, p });
  return ["scrypt", log2N, r, p, salt.toString("base64"), hash.toString("base64")].join("$");
}
