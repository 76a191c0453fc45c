/** The copy of the database between SQLite and PostgreSQL, as the command of an administrator sees it. */
import { dirname } from "node:path";
import { resolveSecret } from "../../config/reader/secret.ts";
import { storeUrlFault } from "../../config/store-url.ts";
import { type CopiedStore, copyStore, type StoreCopyProgress } from "../../store/database/copy/copy-store.ts";
import { becomeOwnerOf, type StateConfig } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export type CopiedStoreView = CopiedStore & { readonly direction: "to postgres" | "to sqlite" };
export type StoreCopyProgressView = StoreCopyProgress;

export interface StoreCopyRequest {
  /** `sqlite`, an address, or a reference to one; else what the configuration names. */
  readonly from: string | undefined;
  readonly to: string;
  readonly isAnew: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** The file that the configuration was read from: references to files are relative to its folder. */
  readonly configFile: string;
  readonly onProgress: (progress: StoreCopyProgress) => void;
}

/** The address of the database that an option names; undefined for that of SQLite. */
function urlNamed(option: string, named: string, { env, configFile }: StoreCopyRequest): string | undefined {
  if (named === "sqlite") return undefined;
  const refuse = (what: string): never => {
    throw new WrongUseError(`${option} ${what}`);
  };
  const isPlain = /^postgres(?:ql)?:\/\//.test(named);
  const outcome = isPlain ? undefined : resolveSecret(named, { env, folder: dirname(configFile) });
  if (outcome?.kind === "refused")
    return refuse(
      "must be sqlite, postgres://USER:PASSWORD@HOST:PORT/DATABASE, or env:NAME, file:PATH or credential:NAME",
    );
  if (outcome?.kind === "missing") return refuse(`cannot be read: ${outcome.message}`);
  const url = outcome?.secret.reveal() ?? named;
  const fault = storeUrlFault(url);
  return fault === undefined ? url : refuse(fault);
}

/** The one of the two that is on PostgreSQL. */
function readEnds(config: StateConfig, request: StoreCopyRequest) {
  const { from, to } = request;
  const source = from === undefined ? config.store?.reveal() : urlNamed("--from", from, request);
  const target = urlNamed("--to", to, request);
  if (source !== undefined && target !== undefined)
    throw new WrongUseError(
      "both are on PostgreSQL: its own tools copy one to another (pg_dump, pg_restore)",
    );
  if (source !== undefined) return { url: source, direction: "to sqlite" as const };
  if (target !== undefined) return { url: target, direction: "to postgres" as const };
  throw new WrongUseError("both are the SQLite file of the state directory: name a database of PostgreSQL");
}

/** Copies the whole database of the state, which nobody may use meanwhile. */
export async function copyDatabaseOf(
  config: StateConfig,
  request: StoreCopyRequest,
): Promise<CopiedStoreView> {
  const { stateDir } = config;
  const ends = readEnds(config, request);
  const { isAnew, onProgress } = request;
  await becomeOwnerOf(stateDir);
  return { ...(await copyStore({ stateDir, ...ends, isAnew, onProgress })), direction: ends.direction };
}
