/** All that the Debian package installs, and its control files. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { renderCompletion } from "../generators/render-completion.ts";
import { renderConfigPage, renderProgramPage } from "../generators/render-man.ts";
import {
  changelogText,
  controlText,
  copyrightText,
  licencesText,
  type PackageLicence,
  packageUnit,
} from "./deb-texts.ts";
import { licenceOf } from "./locked-packages.ts";
import { copied, linked, type PackageEntry, type PackageFile, written } from "./package-entry.ts";
import { type ProgramSource, programEntries } from "./program-entries.ts";
import { committedFilesBelow, projectFolder } from "./source.ts";

const files = join(import.meta.dirname, "debian");
const docs = "usr/share/doc/dropgate";

function textOf(...path: string[]): string {
  return readFileSync(join(projectFolder, ...path), "utf8");
}

function packed(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

export function licencesOf({ modules, packages }: ProgramSource): readonly PackageLicence[] {
  return packages.map((one) => ({ ...one, ...licenceOf(modules, one) }));
}

/** What the licences ask for, the list of parts, and the documents. */
export function documentEntries(source: ProgramSource, seconds: number, sbom: string): PackageEntry[] {
  const licences = licencesOf(source);
  const committed = (folder: string) =>
    committedFilesBelow(folder).map((name) =>
      copied(`${docs}/${folder}/${name}`, join(projectFolder, folder, name)),
    );
  return [
    written(`${docs}/copyright`, copyrightText(textOf("LICENSE"), licences)),
    written(`${docs}/licences.txt.gz`, packed(licencesText(licences))),
    written(`${docs}/changelog.gz`, packed(changelogText(source.version, seconds))),
    written(`${docs}/sbom.cdx.json`, sbom),
    ...["README.md", "CHANGELOG.md"].map((name) => copied(`${docs}/${name}`, join(projectFolder, name))),
    ...committed("docs"),
    // A configuration of the one who packages, which lies there too, is not for others.
    ...committed("config"),
    ...committed("monitoring"),
    ...committed("deploy"),
  ];
}

/** The manual pages and the completion, made from the commands and settings of this very program. */
function manualEntries({ version }: ProgramSource, seconds: number): PackageEntry[] {
  return [
    written("usr/share/man/man1/dropgate.1.gz", packed(renderProgramPage(version, seconds))),
    written("usr/share/man/man5/dropgate.yaml.5.gz", packed(renderConfigPage(version, seconds))),
    written("usr/share/bash-completion/completions/dropgate", renderCompletion()),
  ];
}

/** What is installed. The program lies where no service runs it: postinst says where it does, and why. */
export function debEntries(source: ProgramSource, seconds: number, sbom: string): PackageEntry[] {
  return [
    ...programEntries(source, "usr/lib/dropgate/package"),
    linked("usr/bin/dropgate", "../lib/dropgate/current/bin/dropgate"),
    written("usr/lib/systemd/system/dropgate.service", packageUnit(textOf("systemd", "dropgate.service"))),
    copied("usr/lib/sysusers.d/dropgate.conf", join(files, "sysusers.conf")),
    copied("etc/dropgate/dropgate.yaml", join(files, "dropgate.yaml"), 0o640),
    copied("usr/share/lintian/overrides/dropgate", join(files, "lintian-overrides")),
    ...manualEntries(source, seconds),
    ...documentEntries(source, seconds, sbom),
  ];
}

function isFile(entry: PackageEntry): entry is PackageFile {
  return entry.kind === "file";
}

/** The files below `DEBIAN/`. */
export function controlEntries(
  { version, architecture }: ProgramSource,
  entries: readonly PackageEntry[],
): PackageFile[] {
  const contents = entries.filter(isFile).map(({ path, content }) => ({ path, bytes: content() }));
  const kilobytes = contents.reduce((sum, { bytes }) => sum + Math.ceil(bytes.length / 1024), 0);
  const sums = contents
    .filter(({ path }) => !path.startsWith("etc/"))
    .map(({ path, bytes }) => `${createHash("md5").update(bytes).digest("hex")}  ${path}\n`);
  const scripts = ["preinst", "postinst", "prerm", "postrm"].map((name) =>
    written(name, readFileSync(join(files, name), "utf8").replaceAll("@VERSION@", version), 0o755),
  );
  return [
    written("control", controlText({ version, architecture, installedKilobytes: kilobytes })),
    written("conffiles", "/etc/dropgate/dropgate.yaml\n"),
    written("md5sums", sums.join("")),
    ...scripts,
  ] as PackageFile[];
}
