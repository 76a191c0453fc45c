/** The texts of the Debian package that are made: control file, changelog, copyright, unit. */
import type { LockedPackage } from "./locked-packages.ts";
import type { Architecture } from "./shipped-files.ts";

/** The form asks for an address; `.invalid` is the domain that never is anybody's. */
const maintainer = "dropgate maintainers <maintainers@dropgate.invalid>";

export interface ControlFacts {
  readonly version: string;
  readonly architecture: Architecture;
  readonly installedKilobytes: number;
}

/** The libraries are those that the Node.js of the package is linked with. */
export function controlText({ version, architecture, installedKilobytes }: ControlFacts): string {
  return `Package: dropgate
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${installedKilobytes}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9), systemd, init-system-helpers (>= 1.54)
Section: net
Priority: optional
Description: file-integration daemon for stop orders
 Takes stop orders in as XML over SFTP, FTP and FTPS, from folders and from
 servers of others, applies them in order and exactly once, and answers each
 file with a receipt. The same orders, loads and reports of drivers go over a
 REST gateway; completion files go out to any number of targets.
 .
 One process, one SQLite file and one state directory; or several nodes, with
 PostgreSQL. The package brings the Node.js that it runs on, and is not started
 before "dropgate init".
`;
}

/** The form that Debian's tools read; what changed stands in CHANGELOG.md. */
export function changelogText(version: string, seconds: number): string {
  const date = new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
  return `dropgate (${version}) unstable; urgency=medium

  * Release ${version}; its changes are in CHANGELOG.md beside this file.

 -- ${maintainer}  ${date}
`;
}

export interface PackageLicence extends LockedPackage {
  readonly id: string;
  readonly texts: readonly string[];
}

export function copyrightText(licence: string, packages: readonly PackageLicence[]): string {
  const rows = packages.map(({ name, version, id }) => `  ${name} ${version}: ${id}`);
  return `dropgate is licensed as follows.

${licence.trimEnd()}

It brings these packages with it, each under its own licence. The texts are in
licences.txt.gz beside this file, sums and origins in sbom.cdx.json. On Debian
the Apache licence is in /usr/share/common-licenses/Apache-2.0 as well.

${rows.join("\n")}
`;
}

export function licencesText(packages: readonly PackageLicence[]): string {
  return packages
    .map(
      ({ name, version, id, texts }) =>
        `${"=".repeat(72)}\n${name} ${version} (${id})\n\n${texts.join("\n\n")}\n`,
    )
    .join("\n");
}

/** The unit of the repository with the paths of the package, and without its lines about a manual installation. */
export function packageUnit(unit: string): string {
  const head = unit.indexOf("[Unit]");
  if (head < 0) throw new Error("the unit has no [Unit]");
  const text = unit
    .slice(head)
    .replaceAll("/opt/dropgate/bin/dropgate", "/usr/bin/dropgate")
    .replaceAll("file:///opt/dropgate/README.md", "file:///usr/share/doc/dropgate/README.md");
  if (text.includes("/opt/"))
    throw new Error("the unit names a path below /opt that the package does not have");
  return text;
}
