import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../../lib/logs/log.ts";
import { generateEd25519HostKey, type HostKey } from "../host-key.ts";
import { SftpEndpoint } from "../sftp-endpoint.ts";
import type { SftpOptions } from "../sftp-options.ts";
import { createFakeSignIn, type FakeSignIn } from "./fake-sign-in.ts";
import { createFolderExchange, type FolderExchange } from "./folder-exchange.ts";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface TestServer {
  readonly endpoint: SftpEndpoint;
  readonly exchange: FolderExchange;
  readonly signIn: FakeSignIn;
  readonly hostKey: HostKey;
  /** What clients see as `/`. */
  readonly root: string;
  /** A folder for the client's own files. */
  readonly work: string;
  readonly logLines: LogLine[];
  /** What it was started with. */
  readonly options: SftpOptions;
  stop(): Promise<void>;
}

const defaults: SftpOptions = {
  host: "127.0.0.1",
  port: 0,
  legacyAlgorithms: false,
  loginTimeoutMs: 20_000,
  maxAuthAttempts: 6,
  maxConnections: 2_000,
  maxConnectionsPerAddress: 2_000,
  maxUnauthenticatedConnections: 2_000,
  maxSessionsPerConnection: 4,
  maxOpenHandles: 100,
  idleTimeoutMs: 600_000,
  proxyProtocolFrom: [],
};

/** Starts a real endpoint on a free port of the loopback over a temporary folder. */
export async function startServer(
  options: Partial<SftpOptions> = {},
  hostKeys: readonly HostKey[] = [generateEd25519HostKey()],
): Promise<TestServer> {
  const base = await mkdtemp(join(tmpdir(), "dropgate-sftp-"));
  const root = await mkdtemp(join(base, "root-"));
  const work = await mkdtemp(join(base, "work-"));
  const logLines: LogLine[] = [];
  const destination = { write: (line: string) => void logLines.push(JSON.parse(line)) };
  const log = createLogger({ level: "debug", destination });
  const exchange = createFolderExchange(root);
  const signIn = createFakeSignIn();
  const [hostKey] = hostKeys;
  if (hostKey === undefined) throw new Error("a server needs a host key");
  const all = { ...defaults, ...options };
  const endpoint = new SftpEndpoint({ exchange, signIn, hostKeys, options: all, log });
  await endpoint.start(new AbortController().signal);
  const stop = async (): Promise<void> => {
    await endpoint.stop(AbortSignal.timeout(1_000));
    await rm(base, { recursive: true, force: true });
  };
  return { endpoint, exchange, signIn, hostKey, root, work, logLines, options: all, stop };
}
