/** The threads that read large requests, and what applies the loads of imports, for some of which it needs them. */
import { createImportThreads, type ImportThreads } from "../../operations/imports/import-threads.ts";
import { createLoadImporter } from "../../operations/imports/load-importer.ts";
import { fencedStore } from "../../store/cluster/ownership.ts";
import type { Parts } from "./daemon-parts.ts";

/** Starts them; their ends are on the stack. */
export async function startLoadImports(parts: Parts): Promise<ImportThreads> {
  const { clock, log, stack, signal, cluster } = parts;
  const readers = createImportThreads({ maxBodyBytes: () => parts.config.http.maxBodyBytes });
  await stack.start(readers, signal);
  const { ownership } = cluster;
  const store = fencedStore(parts.store, ownership);
  const importer = createLoadImporter({ store, ownership, clock, log, readers });
  await stack.start(importer, signal);
  cluster.keeper?.add(importer);
  return readers;
}
