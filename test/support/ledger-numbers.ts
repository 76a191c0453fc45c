/** References of ledger entries, as hosts see them, under a key that is the same in every test. */
import { createSealedNumbers } from "../../src/lib/sealed-numbers.ts";

export const ledgerNumbers = createSealedNumbers("00112233445566778899aabbccddeeff", "file");
