/**
 * Has all tests store passwords at a cost that each of them can pay; most of them sign somebody in, and are about something else.
 * Those of the hash itself import the true one with `vi.importActual`.
 */
import { vi } from "vitest";
import { mockedHashes } from "./mocked-hashes.ts";

// It is called before what this file imports is there: not itself what makes them.
vi.mock("../../src/lib/password-hash.ts", (original) => mockedHashes(original));
