/**
 * Has all tests store passwords at a cost that each of them can pay; most of them sign somebody in, and are about something else.
 * Those of the hash itself import the true one with `vi.importActual`.
 */
import { vi } from "vitest";
import { mockedHashes } from "./mocked-hashes.ts";

// Not `mockedHashes` by itself: this line runs before the imports of the file, and the function only later.
vi.mock("../../src/lib/password-hash.ts", (original) => mockedHashes(original));
