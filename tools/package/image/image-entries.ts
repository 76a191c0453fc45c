/** What lies in the image, in two layers: the base of this machine, and dropgate. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { documentEntries } from "../deb-entries.ts";
import { byPath, foldersOf, linked, type PackageEntry, written } from "../package-entry.ts";
import { type ProgramSource, programEntries } from "../program-entries.ts";
import { architectures } from "../shipped-files.ts";
import { baseEntries } from "./image-base.ts";
import type { ImageLayer } from "./image-layout.ts";
import { type TarEntry, tarOf } from "./tar-writer.ts";

/** The user inside of the container; it has no name outside. */
export const imageUser = 10_001;

const state = "var/lib/dropgate";

const accounts = [
  written(
    "etc/passwd",
    `root:x:0:0:root:/root:/bin/sh\ndropgate:x:${imageUser}:${imageUser}::/${state}:/bin/sh\n`,
  ),
  written("etc/group", `root:x:0:\ndropgate:x:${imageUser}:\n`),
  written("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];

function folder(path: string, mode = 0o755, owner = 0): TarEntry {
  return { path, kind: "folder", mode, owner };
}

/** A named volume takes owner and mode of the state over from this folder. */
const ownFolders = [folder("tmp", 0o1777), folder("var"), folder("var/lib"), folder(state, 0o750, imageUser)];

function tarEntryOf(entry: PackageEntry): TarEntry {
  const { path } = entry;
  if (entry.kind === "link") return { path, kind: "link", mode: 0o777, target: entry.target };
  return { path, kind: "file", mode: entry.mode, content: entry.content() };
}

function archiveOf(entries: readonly PackageEntry[], folders: readonly TarEntry[], seconds: number): Buffer {
  const above = foldersOf(entries).map((path) => folder(path));
  return tarOf([...above, ...folders, ...entries.map(tarEntryOf)].sort(byPath), seconds);
}

function programLayerEntries(source: ProgramSource, seconds: number, sbom: string): PackageEntry[] {
  const config = readFileSync(join(import.meta.dirname, "dropgate.yaml"));
  return [
    ...programEntries(source, "usr/lib/dropgate"),
    linked("usr/bin/dropgate", "../lib/dropgate/bin/dropgate"),
    written("etc/dropgate/dropgate.yaml", config),
    ...accounts,
    ...documentEntries(source, seconds, sbom),
  ];
}

export function imageLayers(source: ProgramSource, seconds: number, sbom: string): ImageLayer[] {
  const cpu = architectures[source.architecture];
  const binaries = [`node-linux-${cpu}/bin/node`, `better-sqlite3/prebuilds/linux-${cpu}.node`];
  const base = baseEntries(binaries.map((path) => join(source.modules, path)));
  const program = programLayerEntries(source, seconds, sbom);
  return [
    { holds: "programs and libraries of Debian", archive: archiveOf(base, [], seconds) },
    { holds: `dropgate ${source.version}`, archive: archiveOf(program, ownFolders, seconds) },
  ];
}

/** What a container is run with. */
export function imageConfig(version: string): object {
  return {
    User: `${imageUser}:${imageUser}`,
    ExposedPorts: { "8080/tcp": {}, "2222/tcp": {} },
    Env: ["PATH=/usr/bin", "DROPGATE_CONFIG=/etc/dropgate/dropgate.yaml"],
    Entrypoint: ["/usr/bin/dropgate"],
    Cmd: ["serve"],
    Volumes: { [`/${state}`]: {} },
    WorkingDir: `/${state}`,
    StopSignal: "SIGTERM",
    Labels: {
      "org.opencontainers.image.title": "dropgate",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.licenses": "MIT",
    },
  };
}
