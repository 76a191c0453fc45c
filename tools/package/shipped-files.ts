/** Which files of the installed packages are shipped: what the program loads on one platform, and the licences. */

export const architectures = { amd64: "x64", arm64: "arm64" } as const;
export type Architecture = keyof typeof architectures;

/** Needed to compile or to install alone; each reason was looked up in the package that asks for it. */
export const buildOnlyPackages: ReadonlyMap<string, string> = new Map([
  ["@scarf/scarf", "counts installations of swagger-ui-dist by an install script, which is never run"],
  ["buildcheck", "compiles cpu-features"],
  ["cpu-features", "an optional addon of ssh2 that has to be compiled"],
  ["nan", "headers of addons of ssh2 that have to be compiled"],
  ["node-addon-api", "headers of better-sqlite3, whose binaries are in its package"],
]);

const licenceName = /^(?:licen[cs]e|copying|notice)/i;
const unusedEnding =
  /(?:\.map|\.d\.[cm]?ts|\.ts|\.md|\.markdown|\.gyp|\.gypi|\.c|\.cc|\.cpp|\.h|\.exe|\.tgz|\.yml|\.flow)$/i;
const unusedFolder = /^(?:test|tests|__tests__|example|examples|benchmark|benchmarks|bench|docs)\//;
/** Sources of what is there as a binary; `src` of any other package is what is loaded. */
const compiledFrom: ReadonlyMap<string, RegExp> = new Map([
  ["better-sqlite3", /^(?:deps|src)\//],
  ["ssh2", /^lib\/protocol\/crypto\/src\//],
]);

/** What the console sends to browsers; the other forms of these packages are for programs that are built otherwise. */
const servedAlone: ReadonlyMap<string, RegExp> = new Map([
  ["htmx.org", /^dist\/htmx\.min\.js$/],
  ["idiomorph", /^dist\/idiomorph-ext\.min\.js$/],
  ["uplot", /^dist\/uPlot\.(?:iife\.min\.js|min\.css)$/],
]);

export function isLicence(path: string): boolean {
  return licenceName.test(path.slice(path.lastIndexOf("/") + 1));
}

function isForProgram(packageName: string, path: string, cpu: string): boolean {
  if (packageName.startsWith("node-linux-")) return path === "bin/node" || path === "package.json";
  // Pages of others load scripts from elsewhere.
  if (path.endsWith(".html")) return packageName === "swagger-ui-dist";
  if (packageName === "better-sqlite3" && path.startsWith("prebuilds/"))
    return path === `prebuilds/linux-${cpu}.node`;
  return true;
}

/** Whether the file, by its path inside of the package, is shipped for the architecture. */
export function isShipped(packageName: string, path: string, architecture: Architecture): boolean {
  const cpu = architectures[architecture];
  if (buildOnlyPackages.has(packageName)) return false;
  if (packageName.startsWith("node-linux-") && packageName !== `node-linux-${cpu}`) return false;
  if (isLicence(path)) return true;
  if (!isForProgram(packageName, path, cpu)) return false;
  const served = servedAlone.get(packageName);
  if (served !== undefined) return path === "package.json" || served.test(path);
  if (unusedEnding.test(path) || path.startsWith(".") || path.includes("/.")) return false;
  return !unusedFolder.test(path) && compiledFrom.get(packageName)?.test(path) !== true;
}
