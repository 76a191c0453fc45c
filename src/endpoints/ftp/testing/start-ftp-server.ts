import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ExchangeFixture, openFixture } from "../../../../test/support/exchange-fixture.ts";
import { createLogger } from "../../../lib/logs/log.ts";
import { createFakeSignIn, type FakeSignIn } from "../../sftp/testing/fake-sign-in.ts";
import { FtpEndpoint } from "../ftp-endpoint.ts";
import type { FtpOptions } from "../ftp-options.ts";
import { FtpTestClient } from "./ftp-client.ts";

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface FtpTestServer {
  readonly endpoint: FtpEndpoint;
  readonly fixture: ExchangeFixture;
  readonly signIn: FakeSignIn;
  readonly logLines: LogLine[];
  /** What it was started with. */
  readonly options: FtpOptions;
  /** Bytes of uploads that have come so far. */
  receivedBytes: number;
  /** A client that has read the greeting. */
  connect(): Promise<FtpTestClient>;
  /** A client that is signed in without TLS. */
  signedIn(): Promise<FtpTestClient>;
  /** Writes a file into the company's tree. */
  write(path: string, content: string): Promise<void>;
  stop(): Promise<void>;
}

const defaults: FtpOptions = {
  host: "127.0.0.1",
  port: 0,
  allowPlain: true,
  requireSessionReuse: false,
  loginTimeoutMs: 20_000,
  maxAuthAttempts: 6,
  maxConnections: 2_000,
  maxConnectionsPerAddress: 2_000,
  maxUnauthenticatedConnections: 2_000,
  idleTimeoutMs: 600_000,
  dataTimeoutMs: 20_000,
  proxyProtocolFrom: [],
};

/** Starts a real endpoint on a free port over a real exchange; the user `host` exchanges files of the company ACME. */
export async function startFtpServer(options: Partial<FtpOptions> = {}): Promise<FtpTestServer> {
  const fixture = await openFixture();
  const logLines: LogLine[] = [];
  const destination = { write: (line: string) => void logLines.push(JSON.parse(line)) };
  const log = createLogger({ level: "debug", destination });
  const signIn = createFakeSignIn();
  const { exchange } = fixture;
  const received = (bytes: number): void => {
    server.receivedBytes += bytes;
  };
  const all = { ...defaults, ...options };
  const endpoint = new FtpEndpoint({ exchange, signIn, options: all, log, received });
  await endpoint.start(new AbortController().signal);
  const clients: FtpTestClient[] = [];
  const connect = async (): Promise<FtpTestClient> => {
    const client = await FtpTestClient.connect(endpoint.port);
    clients.push(client);
    return client;
  };
  const server: FtpTestServer = {
    endpoint,
    fixture,
    signIn,
    logLines,
    options: all,
    receivedBytes: 0,
    connect,
    async signedIn() {
      const client = await connect();
      await client.signIn();
      return client;
    },
    write: (path, content) => writeFile(join(fixture.home, path), content),
    async stop() {
      for (const client of clients) client.end();
      await endpoint.stop(AbortSignal.timeout(2_000));
      await fixture.close();
    },
  };
  return server;
}
