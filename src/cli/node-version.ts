/** Which Node.js dropgate runs on. Imports nothing, so that it can be checked before a native module is loaded. */
const leastMinorOf22 = 22;

/** Why a version of Node.js (such as `22.23.3`) cannot run dropgate, in one line; undefined when it can. */
export function faultOfNodeVersion(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if ((major === 22 && minor >= leastMinorOf22) || major >= 24) return undefined;
  return `dropgate: Node.js ${version} cannot run this program: use 22.${leastMinorOf22} or a newer 22, or 24 (bin/dropgate brings its own)`;
}
