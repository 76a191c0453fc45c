/** A server of PostgreSQL that lets nobody into a database without TLS, but for the one of its administrator. */
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Authority, makeAuthority } from "./certificates.ts";
import { askPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";

export const tlsPassword = "p0stgres-secret";
/** Has no password, and comes in with a certificate. */
export const certifiedUser = "certified";

const hosts = `host postgres all 127.0.0.1/32 trust
hostssl all ${certifiedUser} 127.0.0.1/32 cert
hostssl all all 127.0.0.1/32 scram-sha-256
`;

export interface TlsPostgres {
  readonly server: PostgresServer;
  /** Has signed the server's certificate, for 127.0.0.1 alone. */
  readonly authority: Authority;
  /** For the files of a test. */
  readonly folder: string;
  /** Makes an empty database; gives its address, with the password and without TLS. */
  makeDatabase(name: string): Promise<string>;
  end(): void;
}

export async function startTlsPostgres(): Promise<TlsPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-tls-"));
  chmodSync(folder, 0o755);
  const authority = await makeAuthority(folder);
  const { certificateFile, keyFile } = await authority.issue("server", { names: "IP:127.0.0.1" });
  if (process.geteuid?.() === 0) chownSync(keyFile, 65_534, 65_534);
  writeFileSync(join(folder, "pg_hba.conf"), hosts);
  const files = { ssl_cert_file: certificateFile, ssl_key_file: keyFile, ssl_ca_file: authority.caFile };
  // `check` has a problem without fsync.
  const settings = { ssl: "on", ...files, hba_file: join(folder, "pg_hba.conf"), fsync: "on" };
  const server = await startPostgres({ more: Object.entries(settings).map((pair) => pair.join("=")) });
  const users = `alter user dropgate password '${tlsPassword}'; create user ${certifiedUser} superuser`;
  await askPostgres(server.urlOf("postgres"), users);
  return {
    ...{ server, authority, folder },
    async makeDatabase(name) {
      return (await server.makeDatabase(name)).replace("dropgate@", `dropgate:${tlsPassword}@`);
    },
    end() {
      server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
