import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../../config/load-config.ts";
import { checkUnits } from "./check-units.ts";
import { createPathResolver, type ResolvePaths } from "./resolved-paths.ts";
import { unitFolders } from "./systemd-unit.ts";

const shipped = readFileSync(new URL("../../../systemd/dropgate.service", import.meta.url), "utf8");

describe("the folders that the installed unit lets the service write", () => {
  let dir: string;
  /** As /etc/systemd/system and /usr/lib/systemd/system. */
  let etc: string;
  let lib: string;
  let configFile: string;

  beforeEach(() => {
    dir = temporaryFolder();
    [etc, lib, configFile] = [join(dir, "etc"), join(dir, "lib"), join(dir, "dropgate.yaml")];
    mkdirSync(etc);
    mkdirSync(lib);
    const own = "/etc/dropgate/dropgate.yaml";
    writeFileSync(join(lib, "dropgate.service"), shipped.replace(`CONFIG=${own}`, `CONFIG=${configFile}`));
  });

  function dropIn(folder: string, name: string, ...lines: string[]): void {
    mkdirSync(join(folder, "dropgate.service.d"), { recursive: true });
    writeFileSync(join(folder, "dropgate.service.d", name), ["[Service]", ...lines, ""].join("\n"));
  }

  async function found(settings: object, resolve?: ResolvePaths) {
    writeFileSync(configFile, JSON.stringify({ stateDir: "/var/lib/dropgate", ...settings }));
    const loaded = await loadConfig({ path: configFile, env: {}, cwd: "/" });
    if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
    return await checkUnits(loaded.config, configFile, { folders: [etc, lib], ...(resolve && { resolve }) });
  }

  function dropFolder(path: string): object {
    return { companies: { ACME: { folders: [{ path }] } } };
  }

  async function dropFolderStatus(path: string): Promise<string | undefined> {
    return (await found(dropFolder(path)))[0]?.status;
  }

  it("are the state directory alone in the unit as shipped", async () => {
    expect(await found({})).toEqual([
      {
        status: "ok",
        what: "the unit dropgate.service lets the service write all folders of the configuration",
      },
    ]);
    expect(await found({ stateDir: "/srv/state" })).toMatchObject([
      { status: "warning", what: expect.stringContaining("/srv/state, the state directory") },
    ]);
  });

  it("are named in warnings when they are missing: drop folders, places of deliveries and backups", async () => {
    const outbound = { targets: { erp: { type: "folder", path: "/srv/erp" } } };
    const findings = await found({
      companies: { ACME: { folders: [{ path: "/srv/orders" }], outbound } },
      backup: { folder: "/srv/backup" },
      retention: { archive: 365, moveTo: "/srv/old" },
    });
    const title = `the unit dropgate.service (${lib}/dropgate.service) does not let the service write`;
    expect(findings.map(({ status, what }) => `${status}: ${what}`)).toEqual([
      `warning: ${title} /srv/orders, a drop folder of ACME (ProtectSystem=strict)`,
      `warning: ${title} /srv/erp, the target erp of ACME (ProtectSystem=strict)`,
      `warning: ${title} /srv/backup, the folder of backups (ProtectSystem=strict)`,
      `warning: ${title} /srv/old, the folder that old files are moved to (ProtectSystem=strict)`,
    ]);
  });

  it.each([
    "/srv/orders",
    "/srv/the orders",
    "/srv/100%'s",
    '/srv/a "b"',
    "/home/acme/drop",
    "/var/tmp/drop",
  ])("are there with the drop-in that the remedy writes: %s", async (path) => {
    const [finding] = await found(dropFolder(path));
    expect(finding?.status).toBe("warning");
    const commands = finding?.remedy?.replace("as root: ", "").split(" && ") ?? [];
    expect(commands.slice(-2)).toEqual(["systemctl daemon-reload", "systemctl restart dropgate.service"]);
    const written = commands.slice(0, -2).join(" && ");
    expect(written).toContain("/etc/systemd/system/dropgate.service.d/folders.conf");
    execFileSync("sh", ["-c", written.replaceAll("/etc/systemd/system", etc)]);
    expect(await dropFolderStatus(path)).toBe("ok");
    // The drop-in is added to: another folder keeps the one before it.
    await found(dropFolder("/srv/second"));
    expect(await dropFolderStatus(path)).toBe("ok");
  });

  it("are those of all drop-ins, of which an earlier folder hides the namesakes and an empty value those before", async () => {
    dropIn(lib, "10-a.conf", "ReadWritePaths=/srv/a");
    dropIn(etc, "20-b.conf", "# a remark", "ReadWritePaths=-/srv/b \\", '  "/srv/c d"');
    for (const path of ["/srv/a", "/srv/b/deep", "/srv/c d"]) expect(await dropFolderStatus(path)).toBe("ok");
    expect(await dropFolderStatus("/srv/bc")).toBe("warning");
    dropIn(etc, "10-a.conf", "ReadWritePaths=/srv/other");
    expect(await dropFolderStatus("/srv/a")).toBe("warning");
    dropIn(etc, "30-z.conf", "ReadWritePaths=", "ReadWritePaths=/var/lib/dropgate");
    expect(await dropFolderStatus("/srv/b")).toBe("warning");
  });

  it("are less when a drop-in takes one back, and all without confinement", async () => {
    dropIn(etc, "10.conf", "ReadWritePaths=/srv", "ReadOnlyPaths=/srv/shared");
    expect(await dropFolderStatus("/srv/orders")).toBe("ok");
    expect((await found(dropFolder("/srv/shared/x")))[0]?.what).toContain("(ReadOnlyPaths)");
    dropIn(etc, "20.conf", "InaccessiblePaths=/srv/closed");
    const [closed] = await found(dropFolder("/srv/closed/x"));
    expect(closed?.what).toContain("hides from the service /srv/closed/x");
    expect(closed?.remedy).toContain("InaccessiblePaths");
    dropIn(etc, "30.conf", "ProtectSystem=no", "ProtectHome=no", "PrivateTmp=no");
    for (const path of ["/opt/x", "/home/x", "/tmp/x"]) expect(await dropFolderStatus(path)).toBe("ok");
  });

  it("are compared where links lead", async () => {
    const [real, link] = [join(dir, "real"), join(dir, "link")];
    mkdirSync(real);
    symlinkSync(real, link);
    dropIn(etc, "10.conf", "PrivateTmp=no", `ReadWritePaths=${link}`);
    expect(await dropFolderStatus(real)).toBe("ok");
    expect(await dropFolderStatus(link)).toBe("ok");
  });

  it("are compared where links lead that are not there yet, as on a share before it is mounted", async () => {
    const [share, link] = [join(dir, "share"), join(dir, "link")];
    symlinkSync(join(share, "orders"), link);
    dropIn(etc, "10.conf", "PrivateTmp=no", `ReadWritePaths=-${share}/orders`);
    expect(await dropFolderStatus(link)).toBe("ok");
    expect(await dropFolderStatus(join(share, "others"))).not.toBe("ok");
  });

  it("are not told of a share that does not answer, and of the others all the same", async () => {
    const file = join(dir, "dead-shares.mjs");
    writeFileSync(
      file,
      `const paths = process.argv.slice(2);
       if (paths.some((path) => path.startsWith("/dead/"))) setInterval(() => undefined, 1_000);
       else process.stdout.write(JSON.stringify(paths));`,
    );
    const resolve = createPathResolver({ timeoutMs: 15_000, file });
    dropIn(etc, "10.conf", "ReadWritePaths=-/dead/out");
    const settings = (...paths: string[]) => ({
      companies: { ACME: { folders: paths.map((path) => ({ path })) } },
    });
    const unit = "the unit dropgate.service";
    const all = await found(settings("/dead/in", "/srv/orders"), resolve);
    expect(all.map(({ what }) => what)).toEqual([
      `${unit} (${lib}/dropgate.service) does not let the service write /srv/orders, a drop folder of ACME (ProtectSystem=strict)`,
    ]);
    const answering: ResolvePaths = async (paths) =>
      new Map(paths.flatMap((path) => (path.startsWith("/dead/") ? [] : [[path, path]])));
    expect(await found(settings("/dead/in"), answering)).toEqual([
      { status: "ok", what: `${unit} lets the service write all folders of the configuration that answer` },
    ]);
  });

  it("are named by any way that a unit has to write paths", async () => {
    const named = readFileSync(join(lib, "dropgate.service"), "utf8");
    writeFileSync(join(lib, "dropgate-acme.service"), named);
    rmSync(join(lib, "dropgate.service"));
    mkdirSync(join(etc, "dropgate-.service.d"));
    writeFileSync(
      join(etc, "dropgate-.service.d", "10.conf"),
      "[Service]\nReadWritePaths=/srv/the\\x20orders %S/others\n",
    );
    for (const path of ["/srv/the orders", "/var/lib/others"])
      expect(await dropFolderStatus(path)).toBe("ok");
    expect(await dropFolderStatus("/srv/the")).toBe("warning");
  });

  it("are not asked of a unit that runs another command", async () => {
    const own = readFileSync(join(lib, "dropgate.service"), "utf8");
    const verify = own.replace("bin/dropgate serve", "bin/dropgate ledger verify");
    writeFileSync(join(etc, "dropgate-verify.service"), verify.replace(/ReadWritePaths=.*/, ""));
    const findings = await found(dropFolder("/srv/orders"));
    expect(findings.map(({ what }) => /dropgate[\w-]*\.service/.exec(what)?.[0])).toEqual([
      "dropgate.service",
    ]);
  });

  it("are nothing to speak of for another configuration, a masked unit, and without one", async () => {
    const other = join(dir, "other.yaml");
    dropIn(etc, "10.conf", `Environment=DROPGATE_CONFIG=${other}`);
    expect(await found(dropFolder("/srv/orders"))).toEqual([]);
    dropIn(etc, "10.conf");
    expect(await dropFolderStatus("/srv/orders")).toBe("warning");
    symlinkSync("/dev/null", join(etc, "dropgate.service"));
    expect(await found(dropFolder("/srv/orders"))).toEqual([]);
  });

  it("are looked for where systemd does", () => {
    expect(unitFolders({})).toContain("/etc/systemd/system");
    expect(unitFolders({ SYSTEMD_UNIT_PATH: "/a:/b" })).toEqual(["/a", "/b"]);
    expect(unitFolders({ SYSTEMD_UNIT_PATH: "/a:" })).toEqual(["/a", ...unitFolders({})]);
  });
});
