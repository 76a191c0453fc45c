/**
 * One pool of documents for all pipelines of a process of tests: it keeps nothing between documents, and takes half a second
 * to start. It ends with the process.
 */
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { createLogger } from "../../src/lib/logs/log.ts";

export const sharedDocuments = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
await sharedDocuments.start(new AbortController().signal);
