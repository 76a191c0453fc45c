/**
 * The gateway over HTTP: reads, imports of stops and imports of loads into the real daemon, with real sign-in. Servers and
 * client are processes of their own; the client is the same for all servers, and the table says how busy it was.
 */
import { benchImports } from "./gateway-imports.ts";
import { benchReads } from "./gateway-reads.ts";
import { benchWrites } from "./gateway-writes.ts";
import type { BenchOptions } from "./support/bench-options.ts";
import { startLoadClient } from "./support/load-client.ts";
import type { Measurement } from "./support/measurement.ts";

export async function benchGateway(options: BenchOptions): Promise<Measurement[]> {
  const client = startLoadClient();
  try {
    const writes = await benchWrites(options, client);
    const imports = await benchImports(options, client);
    // Last, because the full store is still being written back for a while after it was filled.
    const reads = await benchReads(options, client);
    return [...reads, ...writes, ...imports];
  } finally {
    client.end();
  }
}
