/** One pool of documents for all pipelines of a file of tests: it keeps nothing between documents, and takes half a second to start. */
import { afterAll, beforeAll } from "vitest";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { createLogger } from "../../src/lib/logs/log.ts";

export const sharedDocuments = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
const never = new AbortController().signal;
beforeAll(() => sharedDocuments.start(never));
afterAll(() => sharedDocuments.stop(never));
