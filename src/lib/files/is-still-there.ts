/** Whether a file is there, asked of whoever keeps it. */
import { constants } from "node:fs";
import { isMissing } from "../errors.ts";
import { open } from "./changes.ts";

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A look at a name on a network file system may tell what was so a second ago; an open asks the server. True as well when it
 * cannot be opened for another reason than that it is gone: who reads it meets the fault.
 */
export async function isStillThere(path: string): Promise<boolean> {
  try {
    const file = await open(path, flags);
    await file.close();
    return true;
  } catch (error) {
    return !isMissing(error);
  }
}
