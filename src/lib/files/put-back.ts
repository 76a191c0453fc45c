/** A file that was renamed for a moment, and gets its name back. */
import { systemCodeOf } from "../errors.ts";
import { link, unlink } from "./changes.ts";

/** Gives what was taken aside its name again, unless something newer has that; in either case it is not aside any more. */
export async function putBack(aside: string, path: string): Promise<void> {
  try {
    await link(aside, path);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
  await unlink(aside);
}
