import { once } from "node:events";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config/load-config.ts";
import { takeProcessLock } from "../store/process-lock.ts";
import { checkAll } from "./check.ts";
import { initialise } from "./init.ts";

describe("check", () => {
  let dir: string;
  let file: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-check-"));
    file = join(dir, "dropgate.yaml");
    await initialise({ dir, companyCode: "ACME", userName: "host1", httpPort: 0, sftpPort: 0 });
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
      "WAL, synchronous=FULL",
      "xsd/stop.xsd compiles",
      "time zones",
      "company ACME",
      "free on the disk",
    ])
      expect(fine).toContain(part);
  });

  it("reports each fault of a faulty configuration", async () => {
    await writeFile(file, "nope: 1\nhttp:\n  port: x\n");
    const problems = await found("problem");
    expect(problems).toContain("dropgate.yaml:1:1: nope");
    expect(problems).toContain("dropgate.yaml:3:9: http.port");
  });

  it("reports a port that another program has, and takes it as right while our own daemon runs", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    await writeFile(file, `http:\n  port: ${port}\nsftp:\n  enabled: false\n`);
    expect(await found("problem")).toContain(`HTTP port ${port} on 127.0.0.1 cannot be used (EADDRINUSE)`);
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

  it("reports a database that is gone, and one that belongs elsewhere, and changes neither", async () => {
    await writeFile(join(dir, "var", "dropgate.instance"), "another\n");
    expect(await found("problem")).toContain("its instance marker differs");
    await rename(join(dir, "var", "dropgate.db"), join(dir, "moved.db"));
    expect(await found("problem")).toContain("is missing although its marker is there");
    expect(await found("problem")).toContain("is missing although its marker is there");
  });

  it("reports a disk without the room that must stay free", async () => {
    await writeFile(
      file,
      "http: { port: 0 }\nsftp: { port: 0 }\nstorage: { minFree: { percent: 90, bytes: 1000TB } }\n",
    );
    expect(await found("warning")).toContain("must stay free");
  });
});
