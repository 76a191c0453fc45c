import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../config/load-config.ts";
import { operatorCode } from "../../domain/alerts/audience.ts";
import { checkLeftTargets } from "./check-outbound.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { openStore } from "../../store/database/database.ts";
import {
  changeTargetCounts,
  listOutboundTargets,
  saveOutboundCopy,
} from "../../store/outbound/outbound-targets.ts";
import { takeProcessLock } from "../../store/database/process-lock.ts";
import { checkAll } from "./check.ts";
import { initialise } from "../admin/init.ts";
import { listenFree } from "../../../test/support/listen-free.ts";
import { isOnPostgres, itOnSqlite } from "../../../test/support/store-dialect.ts";

/** What is said of the store, where it is as it should be. */
const durability = isOnPostgres ? "synchronous_commit=on" : "WAL, synchronous=FULL";

describe("check", () => {
  let dir: string;
  let file: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-check-"));
    file = join(dir, "dropgate.yaml");
    await initialise({ dir, company: "ACME", user: "host1", httpPort: 0, sftpPort: 0 });
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function found(status: "ok" | "warning" | "problem"): Promise<string> {
    const findings = await checkAll(await loadConfig({ path: file, env: {}, cwd: "/" }));
    return findings
      .filter((finding) => finding.status === status)
      .map(({ what, remedy }) => `${what} (${remedy})`)
      .join("\n");
  }

  it("finds nothing wrong after init", async () => {
    expect(await found("problem")).toBe("");
    const fine = await found("ok");
    for (const part of [
      durability,
      "xsd/stop.xsd compiles",
      "time zones",
      "company ACME",
      "free on the disk",
    ])
      expect(fine).toContain(part);
  });

  it("asks for an upgrade only what another version can find different", async () => {
    const credential = "credential:tls-passphrase";
    const tls = {
      certFile: join(dir, "none.pem"),
      keyFile: join(dir, "none.pem"),
      keyPassphrase: credential,
    };
    await writeFile(file, JSON.stringify({ http: { port: 0, tls }, sftp: { port: 0 } }));
    const loaded = await loadConfig({ path: file, env: {}, cwd: "/", needsSecrets: false });
    const findings = await checkAll(loaded, { upgrade: true });
    expect(findings.filter(({ status }) => status === "problem")).toEqual([]);
    expect(JSON.stringify(findings)).toContain(durability);
    await rm(join(dir, "var", isOnPostgres ? "dropgate.instance" : "dropgate.db"));
    const without = await checkAll(loaded, { upgrade: true });
    expect(without.some(({ status }) => status === "problem")).toBe(true);
  });

  it("names a configuration that everybody can change, and a TLS key that everybody can read", async () => {
    const [cert, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
    const names = ["-subj", "/CN=localhost", "-keyout", key, "-out", cert];
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90"];
    execFileSync("openssl", ["req", "-x509", ...newKey, ...names], { stdio: "ignore" });
    await writeFile(
      file,
      JSON.stringify({ http: { port: 0, tls: { certFile: cert, keyFile: key } }, sftp: { port: 0 } }),
    );
    await chmod(key, 0o640);
    await chmod(file, 0o664);
    expect(await found("problem")).toBe("");
    await chmod(key, 0o644);
    await chmod(file, 0o666);
    const problems = await found("problem");
    expect(problems).toContain(`the TLS key ${key} has mode 0644`);
    expect(problems).toContain(`(chmod o= ${key})`);
    expect(problems).toContain(`the configuration ${file} has mode 0666`);
    expect(problems).toContain(`(chmod o-w ${file})`);
  });

  it("names a folder in which everybody can replace the configuration, unless it is sticky", async () => {
    await chmod(dirname(file), 0o777);
    const problems = await found("problem");
    expect(problems).toContain(`the folder ${dirname(file)} of the configuration has mode 0777`);
    expect(problems).toContain(`(chmod o-w ${dirname(file)})`);
    await chmod(dirname(file), 0o1777);
    expect(await found("problem")).toBe("");
  });

  it("reports each fault of a faulty configuration", async () => {
    await writeFile(file, "nope: 1\nhttp:\n  port: x\n");
    const problems = await found("problem");
    expect(problems).toContain("dropgate.yaml:1:1: nope");
    expect(problems).toContain("dropgate.yaml:3:9: http.port");
  });

  it("reports a port that another program has, and takes it as right while our own daemon runs", async () => {
    const server = createServer();
    const port = await listenFree(server);
    await writeFile(file, `http:\n  port: ${port}\nsftp:\n  port: 0\n`);
    expect(await found("problem")).toContain(`HTTP port ${port} on 127.0.0.1 cannot be used (EADDRINUSE)`);
    await writeFile(file, `http:\n  port: 0\nconsole:\n  port: ${port}\nsftp:\n  port: 0\n`);
    expect(await found("problem")).toContain(`console port ${port} on 127.0.0.1 cannot be used (EADDRINUSE)`);
    const lock = takeProcessLock(join(dir, "var"));
    expect(await found("problem")).toBe("");
    expect(await found("ok")).toContain(`dropgate is running (process ${process.pid})`);
    lock.release();
    expect(await found("problem")).toContain("EADDRINUSE");
    server.close();
  });

  it("reports a host key that others can read, and a state directory that everybody can enter", async () => {
    await chmod(join(dir, "var", "keys", "ssh_host_ed25519_key"), 0o644);
    await chmod(join(dir, "var"), 0o755);
    expect(await found("problem")).toMatch(/host key .* has mode 0644: others can use it \(chmod 600/);
    expect(await found("warning")).toContain("has mode 0755");
  });

  it("reports a drop folder that is not there, and a company that is not registered", async () => {
    await writeFile(
      file,
      "http: { port: 0 }\nsftp: { port: 0 }\ncompanies:\n  acme:\n    folders: [{ path: /nowhere }]\n  OTHER: {}\n",
    );
    const warnings = await found("warning");
    expect(warnings).toContain("the drop folder /nowhere of company ACME is not there (make it, or mount");
    expect(await found("problem")).toBe("");
    expect(warnings).toContain("company OTHER stands in the configuration and is not registered");
  });

  it("reports a database that belongs elsewhere", async () => {
    await writeFile(join(dir, "var", "dropgate.instance"), "another\n");
    expect(await found("problem")).toContain("its instance marker differs");
  });

  itOnSqlite("reports a file of the database that is gone, and makes none", async () => {
    await rename(join(dir, "var", "dropgate.db"), join(dir, "moved.db"));
    expect(await found("problem")).toContain("was there: restore it from a backup");
    expect(await found("problem")).toContain("was there: restore it from a backup");
  });

  // A file that is moved away, and one that is no database.
  itOnSqlite("says nothing of companies that it cannot know of, and all of their drop folders", async () => {
    const settings =
      "http: { port: 0 }\nsftp: { port: 0 }\ncompanies:\n  ACME:\n    folders: [{ path: /nowhere }]\n";
    await writeFile(file, settings);
    const database = join(dir, "var", "dropgate.db");
    const isUnknown = async (problem: string) => {
      expect(await found("problem")).toContain(problem);
      const warnings = await found("warning");
      expect(warnings).not.toContain("not registered");
      expect(warnings).toContain("the drop folder /nowhere of company ACME is not there");
    };
    await rename(database, join(dir, "moved.db"));
    await isUnknown("was there: restore it from a backup");
    await writeFile(database, "x".repeat(5_000));
    await isUnknown(`${database}: file is not a database`);
  });

  it("does not take for absent what it cannot look at: host keys, and the daemon that has a port", async () => {
    // A link to itself: it is there, and nobody can look behind it.
    const keys = join(dir, "var", "keys");
    await rm(keys, { recursive: true });
    await symlink(keys, keys);
    const pid = join(dir, "var", "dropgate.pid");
    await symlink(pid, pid);
    const server = createServer();
    const port = await listenFree(server);
    await writeFile(file, `http:\n  port: ${port}\nsftp:\n  port: 0\n`);
    const warnings = await found("warning");
    const problems = await found("problem");
    server.close();
    expect(problems).toBe(
      `the host key ${keys}/ssh_host_ed25519_key cannot be examined (ELOOP) (run this as the user of the daemon, or as root)`,
    );
    expect(warnings).toContain(
      "whether dropgate is running cannot be determined (ELOOP) (run this as the user",
    );
    expect(warnings).toContain(`HTTP port ${port} on 127.0.0.1 is in use, by dropgate or by another program`);
  });

  it("names the setting and the file when certificate or key cannot be used", async () => {
    const [cert, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
    const tls = `http:\n  port: 0\n  tls: { certFile: ${cert}, keyFile: ${key} }\nsftp: { port: 0 }\n`;
    await writeFile(file, tls);
    expect(await found("problem")).toContain(`http.tls.certFile ${cert} cannot be read (ENOENT)`);
    const make = ["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", [...make, "-subj", "/CN=x", "-keyout", key, "-out", cert], { stdio: "ignore" });
    expect(await found("problem")).toBe("");
    const [goodCert, goodKey] = [await readFile(cert), await readFile(key)];
    await writeFile(cert, "no PEM");
    expect(await found("problem")).toContain(
      `http.tls.certFile ${cert} holds no certificate that can be used`,
    );
    await writeFile(cert, goodCert);
    await writeFile(key, "no PEM");
    expect(await found("problem")).toContain(`http.tls.keyFile ${key} holds no private key that can be used`);
    execFileSync("openssl", [...make, "-subj", "/CN=x", "-keyout", key, "-out", "/dev/null"], {
      stdio: "ignore",
    });
    expect(await found("problem")).toContain(
      `the key ${key} and the certificate ${cert} cannot be used together`,
    );
    await writeFile(key, goodKey);
    expect(await found("problem")).toBe("");
  });

  it("tells what waits for targets that are not configured any more, and how to have it sent", async () => {
    const store = await openStore(join(dir, "var"));
    await store.write("site", async (tx) => {
      const [company] = await listCompanies(tx);
      const companyId = company?.id ?? 0;
      const targets = ["outbound", "erp", "old", "messages.sms"].map((name) => ({
        ...{ name, takesCompletions: true },
      }));
      await saveOutboundCopy(tx, { companyId, targets, events: [], embedsDocuments: false });
      for (const target of await listOutboundTargets(tx)) {
        const open = { outbound: 5, erp: 3, "messages.sms": 1 }[target.name] ?? 0;
        await changeTargetCounts(tx, { id: target.id, open, dead: 7 });
      }
    });
    await store.close();
    const left = (await found("warning"))
      .split("\n")
      .filter((line) => line.includes("not in the configuration"));
    expect(left).toEqual([
      "3 deliveries wait for the target erp of ACME, which is not in the configuration (put companies.ACME.outbound.targets.erp back and reload; `dropgate deliveries --company ACME --target erp` lists what waits)",
      "1 delivery waits for the target messages.sms of ACME, which is not in the configuration (put companies.ACME.messages.sms back and reload; `dropgate deliveries --company ACME --target messages.sms` lists what waits)",
    ]);
    const settings = "outbound: {targets: {outbound: {type: folder}, erp: {type: folder, path: /tmp}}}";
    await writeFile(file, `http: {port: 0}\nsftp: {port: 0}\ncompanies: {ACME: {${settings}}}\n`);
    expect(await found("warning")).not.toContain("target erp");
  });

  it("lists what waits for a target of the operator by a command that takes no company", () => {
    const targets = [{ companyCode: operatorCode, name: "alerts.email", open: 1 }];
    const [found] = checkLeftTargets({ companies: {} }, targets);
    expect(found?.remedy).toContain(
      "put alerts.email back and reload; `dropgate deliveries --target alerts.email`",
    );
  });

  it("reports a disk without the room that must stay free", async () => {
    await writeFile(
      file,
      "http: { port: 0 }\nsftp: { port: 0 }\nstorage: { minFree: { percent: 90, bytes: 1000TB } }\n",
    );
    expect(await found("warning")).toContain("must stay free");
  });
});
