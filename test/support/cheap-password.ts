/** Passwords of sites, stored as the program stores them, but at a cost that each start of a daemon can pay. */
import { isPasswordOf } from "../../src/lib/password-hash.ts";
import { cheapHash } from "./cheap-hash.ts";
import { changeRows, rowsOf, type SitePlace } from "./site-database.ts";

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
