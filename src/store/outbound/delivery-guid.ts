import { randomBytes } from "node:crypto";
import { guidForm } from "../../lib/ids.ts";

const versionBits = 0x70;
const variantBits = 0x80;

/**
 * A GUID (version 7) for a delivery made at that time (milliseconds UTC). GUIDs of one time sort together, so that the
 * index over millions of them is written at its end and not all over.
 */
export function newDeliveryGuid(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Math.max(0, Math.trunc(now)), 0, 6);
  bytes[6] = versionBits | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = variantBits | ((bytes[8] ?? 0) & 0x3f);
  return guidForm(bytes);
}
