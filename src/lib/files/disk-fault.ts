/** Faults of the disk or of the machine: they say nothing about what was to be read or written, and may pass. */
import { systemCodeOf } from "../errors.ts";

const diskCodes: ReadonlySet<string> = new Set([
  ...["EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EBUSY"],
  // Of a share or a disk that went away.
  ...["ESTALE", "ENODEV", "ENXIO", "EREMOTEIO"],
  ...["EMFILE", "ENFILE", "ENOMEM"],
]);

/** Whether a file could not be read or written because of the disk, the rights on it, or a lack of descriptors. */
export function isDiskFault(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code !== undefined && diskCodes.has(code);
}
