/** The program as it is installed: what is run, and nothing that is only for building or testing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LockedPackage } from "./locked-packages.ts";
import { copied, filesBelow, type PackageEntry, written } from "./package-entry.ts";
import { type Architecture, isShipped } from "./shipped-files.ts";
import { projectFolder } from "./source.ts";

/** What the package is made from. */
export interface ProgramSource {
  readonly version: string;
  readonly architecture: Architecture;
  /** The folder `node_modules` of the architecture. */
  readonly modules: string;
  readonly packages: readonly LockedPackage[];
}

function manifestText(version: string): string {
  const text = readFileSync(join(projectFolder, "package.json"), "utf8");
  const { name, description, license, type } = JSON.parse(text) as Readonly<Record<string, string>>;
  return `${JSON.stringify({ name, version, description, license, type, private: true }, null, 2)}\n`;
}

function builtEntries(folder: string, below: string): PackageEntry[] {
  const source = join(projectFolder, folder);
  return filesBelow(source)
    .filter((name) => name.endsWith(".js") || (folder === "dist" && name === "commit"))
    .map((name) => copied(`${below}/${folder}/${name}`, join(source, name)));
}

function moduleEntries({ modules, packages, architecture }: ProgramSource, below: string): PackageEntry[] {
  return packages.flatMap(({ name, folder }) =>
    filesBelow(join(modules, folder))
      .filter((path) => !path.startsWith("node_modules/") && isShipped(name, path, architecture))
      .map((path) => {
        const mode = name.startsWith("node-linux-") && path === "bin/node" ? 0o755 : 0o644;
        return copied(`${below}/node_modules/${folder}/${path}`, join(modules, folder, path), mode);
      }),
  );
}

/** The tree of the program below a folder of the installed system. */
export function programEntries(source: ProgramSource, below: string): PackageEntry[] {
  const scripts = ["dropgate", "run-node"];
  const read = [
    "config/openapi.json",
    ...["web", "xsd"].flatMap((folder) =>
      filesBelow(join(projectFolder, folder)).map((name) => join(folder, name)),
    ),
  ];
  return [
    ...scripts.map((name) => copied(`${below}/bin/${name}`, join(projectFolder, "bin", name), 0o755)),
    ...read.map((name) => copied(`${below}/${name}`, join(projectFolder, name))),
    ...builtEntries("dist", below),
    ...builtEntries("dist-tools", below),
    written(`${below}/package.json`, manifestText(source.version)),
    ...moduleEntries(source, below),
  ];
}
