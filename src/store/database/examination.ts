/** What a database says of itself before anything else is read of it. */
import type { ServerFacts } from "./postgres/server-facts.ts";
import type { OpenReader } from "./reader-options.ts";

export interface Examination {
  /** Which database it is, and what its durability rests on. */
  readonly engine: string;
  /** Of PostgreSQL. */
  readonly server: ServerFacts | undefined;
  /** The number of the schema, 0 for none. */
  readonly schema: number;
  /** Why the schema cannot be used, with what to do. */
  readonly schemaFault: string | undefined;
  /** Whether the next start migrates it; nothing else is known of it then. */
  readonly isOutdated: boolean;
  readonly instanceId: string | undefined;
}

/** With the connection that the rest is read by. */
export interface Examined extends Examination, OpenReader {}
