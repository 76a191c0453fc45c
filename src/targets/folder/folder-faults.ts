/** Faults of the system on a folder, in the words of the queue. */
import type { DeliveryFault } from "../../outbound/target.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { TransferFault } from "../../remote/transfer-fault.ts";

type Meaning = readonly [DeliveryFault, string];

const gone: Meaning = ["unreachable", "the file system does not answer; check the mount"];
const readOnly: Meaning = ["notAllowed", "the file system is mounted read-only"];
const noRight: Meaning = [
  "notAllowed",
  "there is no right to write there; give the user of the daemon the right",
];
const noSpace: Meaning = ["noSpace", "there is no space left on the disk; make room"];
const tooMany: Meaning = ["busy", "too many files are open in the system"];

const meanings: Readonly<Record<string, Meaning>> = {
  ENOENT: ["missingFolder", "the folder does not exist; make it, or mount what belongs there"],
  ENOTDIR: ["missingFolder", "it is not a folder"],
  ELOOP: ["missingFolder", "it is a link that leads nowhere"],
  EACCES: noRight,
  EPERM: noRight,
  EROFS: readOnly,
  ENOSPC: noSpace,
  EDQUOT: ["noSpace", "the quota of the disk is used up; make room"],
  EMFILE: tooMany,
  ENFILE: tooMany,
  EIO: ["unreachable", "the disk reports a fault; check the log of the system"],
  ESTALE: gone,
  ENOTCONN: gone,
  EHOSTDOWN: gone,
  ETIMEDOUT: gone,
  ECONNABORTED: gone,
  EFBIG: ["refused", "the file is larger than the file system takes"],
  ENAMETOOLONG: ["refused", "the name is longer than the file system takes"],
  EINVAL: ["refused", "the file system does not take the name"],
};

/** The fault that a system error stands for; rethrows everything else, which is a fault of dropgate. */
export function folderFault(thrown: unknown, path: string): TransferFault {
  if (thrown instanceof TransferFault) return thrown;
  const code = systemCodeOf(thrown);
  if (code === undefined) throw thrown;
  const [fault, words] = meanings[code] ?? ["protocol", messageOf(thrown)];
  // A right or a mount is put right without touching the deliveries: they wait for it.
  const changes = fault === "notAllowed" ? { isPermanent: false, cause: thrown } : { cause: thrown };
  return new TransferFault(fault, `${path}: ${words} (${code}).`, changes);
}
