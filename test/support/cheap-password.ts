/** Passwords of sites, stored as the program stores them, but at a cost that each start of a daemon can pay. */
import { randomBytes, scryptSync } from "node:crypto";
import { isPasswordOf } from "../../src/lib/password-hash.ts";
import { changeRows, rowsOf, type SitePlace } from "./site-database.ts";

const log2N = 4;
const [r, p] = [8, 1];

function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, 32, { N: 2 ** log2N, r, p });
  return ["scrypt", log2N, r, p, salt.toString("base64"), hash.toString("base64")].join("$");
}

/** Of all users with that password; no program uses the state. */
export async function makePasswordCheap(site: SitePlace, password: string): Promise<void> {
  const users = rowsOf<{ id: number; password_hash: string | null }>(
    site,
    "select id, password_hash from users",
  );
  for (const { id, password_hash: stored } of users)
    if (stored !== null && (await isPasswordOf(password, stored)))
      changeRows(site, "update users set password_hash = ? where id = ?", cheapHash(password), id);
}
