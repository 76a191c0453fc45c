import { messageOf } from "../lib/errors.ts";
import type { DeliveryFile } from "../outbound/target.ts";
import { TransferFault } from "../remote/transfer-fault.ts";

/** The bytes of a file. What keeps them from being read is a trouble of this delivery, on our side. */
export async function readBytes(file: DeliveryFile): Promise<Uint8Array> {
  try {
    return await file.read();
  } catch (error) {
    const message = `The content of ${file.name} cannot be read on this side: ${messageOf(error)}`;
    throw new TransferFault("content", message, { isPermanent: false, cause: error });
  }
}
