/** The address of the database that the configuration names by reference. */
import { isAbsolute } from "node:path";
import type { Config } from "./schema.ts";

/** Where the state of a configuration is. Throws where the secret could not be read. */
export function statePlaceOf({ stateDir, store }: Pick<Config, "stateDir" | "store">) {
  return { stateDir, url: store?.reveal() };
}

const tlsModes = new Set(["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"]);
const tlsFiles = ["sslrootcert", "sslcert", "sslkey"] as const;

function tlsParameterFault({ searchParams }: URL): string | undefined {
  if (searchParams.getAll("sslmode").some((mode) => !tlsModes.has(mode)))
    return "has an sslmode that there is not; write sslmode=verify-full";
  const relative = tlsFiles.find((name) => searchParams.getAll(name).some((path) => !isAbsolute(path)));
  if (relative !== undefined) return `has no absolute path in ${relative}; write one that begins with /`;
  if (searchParams.has("sslcert") !== searchParams.has("sslkey"))
    return "names one of sslcert and sslkey; write both, the certificate of dropgate and its key";
  return undefined;
}

const schemes = new Set(["postgres:", "postgresql:"]);

/** What is wrong with an address, in words that show nothing of it; undefined for a good one. */
export function storeUrlFault(text: string): string | undefined {
  const form = "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters as %XX";
  const url = URL.parse(text);
  if (url === null) return `is no address; ${form}`;
  if (!schemes.has(url.protocol)) return `is no address of PostgreSQL; ${form}`;
  if (url.hostname === "" && !url.searchParams.has("host")) return `names no host; ${form}`;
  if (url.pathname.length < 2) return `names no database; ${form}`;
  return tlsParameterFault(url);
}
