/** A thread for tests of `JsonThread`: it answers with what it was asked. */
import { serveJson } from "../threads/hosted-worker.ts";

serveJson((request: unknown) => request);
