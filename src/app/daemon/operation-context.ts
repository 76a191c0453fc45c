/** What operations work with, made of what the composition root has. */
import type { OperationContext } from "../../endpoints/http/server/operation-context.ts";
import { createSealedIntegers, createSealedNumbers } from "../../lib/sealed-numbers.ts";
import { userImportHashing } from "../../operations/imports/import-users.ts";
import { createHashQueue } from "../../sign-in/sign-in-hash-queue.ts";

interface Given extends Omit<OperationContext, "eventNumbers" | "shownNumbers" | "hashQueue"> {
  /** Numbers of rows are shown under it (`sealed-numbers.ts`). */
  readonly numberKey: string;
}

export function createOperationContext({ numberKey, ...given }: Given): OperationContext {
  return {
    ...given,
    eventNumbers: createSealedNumbers(numberKey, "event"),
    shownNumbers: {
      load: createSealedIntegers(numberKey, "load"),
      company: createSealedIntegers(numberKey, "company"),
    },
    hashQueue: createHashQueue(userImportHashing),
  };
}
