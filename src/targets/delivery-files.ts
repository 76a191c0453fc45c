/** The files of a delivery: their bytes, and their names, which never leave the folder of the target nor pass for temporary. */
import { hash } from "node:crypto";
import { messageOf } from "../lib/errors.ts";
import type { Delivery, DeliveryFile } from "../outbound/target.ts";
import { TransferFault } from "../remote/transfer-fault.ts";

const alphabet = /^[a-z0-9._-]+$/;
const longestName = 200;
/** `.<name>.<16 hex>.part` */
const temporaryForm = /^\..*\.[0-9a-f]{16}\.part$/;

/** Whether a name is one that these targets give to files that are on their way. */
export function isTemporaryName(name: string): boolean {
  return temporaryForm.test(name);
}

function isSafe(name: string): boolean {
  const isOneFolder = name !== "." && name !== "..";
  return isOneFolder && name.length <= longestName && alphabet.test(name) && !isTemporaryName(name);
}

/** Throws a permanent `content` fault when a file or folder of the delivery has a name that is not safe. */
export function checkNames(delivery: Delivery): void {
  const names = delivery.files.map(({ name }) => name);
  if (delivery.directory !== undefined) names.push(delivery.directory);
  const wrong = names.find((name) => !isSafe(name));
  if (wrong !== undefined) {
    const shown = JSON.stringify(wrong.slice(0, 80));
    throw new TransferFault(
      "content",
      `The name ${shown} is not sent: names have 1 to ${longestName} characters of a-z 0-9 . _ - and are no folder.`,
    );
  }
}

/**
 * The name under which a file is uploaded before it is renamed. The same at every attempt of a delivery, so that what an
 * earlier attempt has left is overwritten; hidden, and no `.xml`, so that nobody takes it for a file that is complete.
 */
export function temporaryNameOf(delivery: Pick<Delivery, "id" | "companyCode">, name: string): string {
  const mark = hash("sha256", `${delivery.companyCode}\n${delivery.id}`, "hex").slice(0, 16);
  return `.${name}.${mark}.part`;
}

/** The bytes of a file. That they cannot be read is a fault of this delivery, within dropgate. */
export async function readBytes(file: DeliveryFile): Promise<Uint8Array> {
  try {
    return await file.read();
  } catch (error) {
    const message = `The content of ${file.name} cannot be read on this side: ${messageOf(error)}`;
    throw new TransferFault("content", message, { isPermanent: false, cause: error });
  }
}
