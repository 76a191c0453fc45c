/** The packages of the lock file that are shipped, what they are licensed under, and the list of parts (SBOM). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Architecture, architectures, buildOnlyPackages, isLicence } from "./shipped-files.ts";
import { filesBelow } from "./package-entry.ts";

interface LockEntry {
  readonly version: string;
  readonly dev?: boolean;
  readonly cpu?: readonly string[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Below `node_modules`. */
  readonly folder: string;
}

/** In order of their folders. Those for development or compiling alone and those of other machines are left out. */
export function shippedPackages(lockText: string, architecture: Architecture): readonly LockedPackage[] {
  const { packages } = JSON.parse(lockText) as LockFile;
  return Object.entries(packages)
    .filter(
      ([path, { dev, cpu }]) => path !== "" && !dev && (cpu?.includes(architectures[architecture]) ?? true),
    )
    .map(([path, { version }]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      folder: path.slice("node_modules/".length),
    }))
    .filter(({ name }) => !buildOnlyPackages.has(name))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

interface Manifest {
  readonly license?: string;
  readonly licenses?: readonly { readonly type: string }[];
}

/** The licence that the package names, and the texts that come with it. */
export function licenceOf(modules: string, { folder }: LockedPackage): { id: string; texts: string[] } {
  const path = join(modules, folder);
  const { license, licenses = [] } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
  const id = license ?? licenses.map(({ type }) => type).join(" or ");
  if (id === "") throw new Error(`${folder} names no licence: find out which it is before it is shipped`);
  const texts = filesBelow(path)
    .filter((name) => isLicence(name) && !name.includes("node_modules/"))
    .map((name) => readFileSync(join(path, name), "utf8").trimEnd());
  return { id, texts };
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly "bom-ref": string;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn?: readonly string[];
}

interface Sbom {
  readonly metadata: { readonly component: Component } & Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
  readonly [key: string]: unknown;
}

/**
 * npm's list, with what is shipped alone, and without its time and serial number, which differ in each run. The version
 * of dropgate is the package's.
 */
export function normalisedSbom(text: string, shipped: readonly LockedPackage[], version: string): string {
  const sbom = JSON.parse(text) as Sbom;
  const { serialNumber: _serial, ...rest } = sbom;
  const { timestamp: _time, ...metadata } = sbom.metadata;
  const wanted = new Set(shipped.map((one) => `${one.name}@${one.version}`));
  const labelOf = (one: Component) => `${one.name}@${one.version}`;
  const components = sbom.components.filter((one) => wanted.has(labelOf(one)));
  const found = new Set(components.map(labelOf));
  const missing = [...wanted].filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`the list of parts lacks ${missing.join(", ")}`);
  const refs = new Set([sbom.metadata.component["bom-ref"], ...components.map((one) => one["bom-ref"])]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)).sort() }));
  // npm calls it after the folder of the checkout.
  const component = { ...sbom.metadata.component, type: "application", name: "dropgate", version };
  return `${JSON.stringify({ ...rest, metadata: { ...metadata, component }, components, dependencies }, null, 2)}\n`;
}
