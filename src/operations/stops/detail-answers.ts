/**
 * The retrieval documents as bytes, ready to be sent. They are kept until the database changes in any way
 * (`store/version-cache.ts`): making one anew costs several times as much as all else that a read needs.
 */
import type { Reader } from "../../store/database/database.ts";
import { createAnswers } from "../../store/database/version-cache.ts";

/** All kinds of documents share it, so its bound is one for all. */
const answers = createAnswers<Buffer>({
  maxAnswers: 20_000,
  maxBytes: 16 * 1024 * 1024,
  sizeOf: ({ byteLength }) => byteLength,
});

export interface DetailKey {
  readonly kind: "stop" | "load" | "order" | "customer";
  readonly companyId: number;
  /** Its number, which may be any text: it stands last in the key, so that no two keys are the same text. */
  readonly number: string;
}

/** The document as bytes of UTF-8, which nobody may change. Rejects as `write` does, and then keeps nothing. */
export function detailBytes(
  read: Reader,
  { kind, companyId, number }: DetailKey,
  write: () => Promise<string>,
): Buffer | Promise<Buffer> {
  return answers.get(read, `${kind} ${companyId} ${number}`, async () => Buffer.from(await write()));
}
