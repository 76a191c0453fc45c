/** TLS with PostgreSQL, as `docs/postgresql.md` has it: all sessions of all programs, and what is said when it does not come to be. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openStore } from "../../src/store/database/database.ts";
import { CopySession } from "../../src/store/database/postgres/copy-session.ts";
import { PostgresSession } from "../../src/store/database/postgres/postgres-session.ts";
import { makeAuthority } from "../support/certificates.ts";
import { DaemonRun, lenient, oneParser, type Site } from "../support/daemon.ts";
import { makePostgresSite } from "../support/postgres-site.ts";
import { askPostgres, hasPostgres, startPostgres } from "../support/postgres-server.ts";
import { nameDatabase } from "../support/site-database.ts";
import { send, stopFile } from "../support/stop-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { certifiedUser, startTlsPostgres, type TlsPostgres, tlsPassword } from "../support/tls-postgres.ts";

let postgres: TlsPostgres;
let site: Site;
/** Without and with TLS. */
let plain: string;
let url: string;

const withTls = (address: string, caFile = postgres.authority.caFile, mode = "verify-full") =>
  `${address}?sslmode=${mode}&sslrootcert=${caFile}`;

beforeAll(async () => {
  if (!hasPostgres) return;
  postgres = await startTlsPostgres();
  plain = await postgres.makeDatabase("tls");
  url = withTls(plain);
  site = await makePostgresSite(url, { security: lenient, inbound: oneParser });
});
afterAll(async () => {
  if (!hasPostgres) return;
  await site.end();
  postgres.end();
});

describe.runIf(hasPostgres)("with sslmode=verify-full", () => {
  it("all sessions use TLS, also after a restart of the server, and check says so", async () => {
    await site.start();
    expect(await send(site, stopFile("T1"))).toMatchObject({ status: 10 });
    const sessions = `select ssl, count(*)::int from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name ~ '^dropgate' group by ssl`;
    const found = await askPostgres(postgres.server.urlOf("postgres"), sessions);
    expect(found).toEqual([[true, expect.any(Number)]]);
    expect(found[0]?.[1]).toBeGreaterThan(3);
    const checked = await site.cli("check");
    expect(checked.output).toContain("sessions with PostgreSQL use TLSv1.3");
    expect(checked.exitCode).toBe(0);
    await postgres.server.kill();
    postgres.server.start();
    expect(await send(site, stopFile("T2"))).toMatchObject({ status: 10 });
    await site.stop();
  });

  it("the database is copied to SQLite and back", async () => {
    expect(await site.mustRun("store", "copy", "--to", "sqlite")).toContain("The copy is complete");
    const to = withTls(await postgres.makeDatabase("copied"));
    expect(await site.mustRun("store", "copy", "--from", "sqlite", "--to", to)).toContain("is complete");
  });

  it("a daemon that does not trust the server ends, and says what to do without the password", async () => {
    const { caFile } = await makeAuthority(temporaryFolder());
    await nameDatabase(site.folder, withTls(plain, caFile));
    const run = new DaemonRun(site.configFile, {});
    expect(await run.exit).toBe(1);
    expect(run.text).toMatch(
      /no TLS with PostgreSQL \(.*certificate.*\): name the file .* by sslrootcert in/,
    );
    expect(run.text).not.toContain(tlsPassword);
    await nameDatabase(site.folder, url);
    await expect(CopySession.connect(withTls(plain, caFile))).rejects.toThrow(
      /by sslrootcert in the address/,
    );
  });

  it.each(["prefer", "require", "verify-ca", "verify-full"])(
    "%s verifies the certificate and its host",
    async (mode) => {
      // The driver warns of what its next version will verify less for.
      const warned = vi.spyOn(process, "emitWarning");
      const other = withTls(plain.replace("127.0.0.1", "localhost"), undefined, mode);
      await expect(openStore(temporaryFolder(), { url: other })).rejects.toThrow(
        /^store: no TLS with PostgreSQL \(Hostname.*localhost.*\): write the host .* as the server's certificate has it/,
      );
      await expect(openStore(temporaryFolder(), { url: `${plain}?sslmode=${mode}` })).rejects.toThrow(
        /^store: no TLS with PostgreSQL \(.*certificate.*\): name the file/,
      );
      expect(warned).not.toHaveBeenCalled();
      warned.mockRestore();
    },
  );

  it("a server that offers no TLS is refused, and so is who comes without it to one that asks for it", async () => {
    const other = await startPostgres();
    try {
      await expect(openStore(temporaryFolder(), { url: withTls(other.urlOf("postgres")) })).rejects.toThrow(
        /^store: no TLS with PostgreSQL \(The server does not support SSL.*\): set ssl = on/,
      );
    } finally {
      other.stop();
    }
    await expect(openStore(temporaryFolder(), { url: plain })).rejects.toThrow(
      /^store: PostgreSQL refuses \(.*no encryption\): .* sslmode=verify-full where pg_hba.conf has hostssl/,
    );
  });

  it("the certificate of dropgate may take the place of the password", async () => {
    const address = url.replace(`dropgate:${tlsPassword}`, certifiedUser);
    await expect(openStore(temporaryFolder(), { url: address })).rejects.toThrow(/valid client certificate/);
    const { certificateFile, keyFile } = await postgres.authority.issue(certifiedUser);
    const session = new PostgresSession({
      url: `${address}&sslcert=${certificateFile}&sslkey=${keyFile}`,
      isReader: true,
    });
    const { rows } = await session.query({ text: "select current_user as name", values: [] });
    await session.close();
    expect(rows).toEqual([{ name: certifiedUser }]);
    const other = await (await makeAuthority(temporaryFolder())).issue(certifiedUser);
    for (const [key, message] of [
      [other.keyFile, /PEM, without a passphrase$/],
      ["/gone.key", /put the file there/],
    ] as const) {
      const wrong = `${address}&sslcert=${certificateFile}&sslkey=${key}`;
      await expect(openStore(temporaryFolder(), { url: wrong })).rejects.toThrow(message);
    }
    const strange = `${address}&sslcert=${other.certificateFile}&sslkey=${other.keyFile}`;
    await expect(openStore(temporaryFolder(), { url: strange })).rejects.toThrow(/that the server trusts/);
  });

  it("a session connects when a file that was missing is there", async () => {
    const caFile = join(temporaryFolder(), "late.pem");
    const session = new PostgresSession({ url: withTls(plain, caFile), isReader: true });
    const question = { text: "select 1 as one", values: [] };
    await expect(session.query(question)).rejects.toThrow(/ENOENT.*put the file there/);
    copyFileSync(postgres.authority.caFile, caFile);
    expect((await session.query(question)).rows).toEqual([{ one: 1 }]);
    await session.close();
  });
});
