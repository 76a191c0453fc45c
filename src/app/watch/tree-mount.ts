/** On what file system a folder lies, as the kernel lists it, and whether several nodes may share a tree on that. */
import { readFile } from "node:fs/promises";
import { type CheckFinding, fine, problem, warning } from "./check-finding.ts";

export interface Mount {
  /** `ext4`, `nfs4`, `ceph`, `fuse.sshfs`. */
  readonly type: string;
  /** `vers=4.2`, `hard`, `acdirmax=60`. */
  readonly options: readonly string[];
}

function unescaped(path: string): string {
  return path.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The mount that a path lies on, by the text of `/proc/self/mountinfo`: of several in one place the last one. */
export function mountOf(path: string, mountinfo: string): Mount | undefined {
  let found: (Mount & { readonly point: string }) | undefined;
  for (const line of mountinfo.split("\n")) {
    const [front = "", back = ""] = line.split(" - ");
    const [, , , , point = "", own = ""] = front.split(" ");
    const [type = "", , ofFileSystem = ""] = back.split(" ");
    const at = unescaped(point);
    const holds = at === "/" || path === at || path.startsWith(`${at}/`);
    if (point === "" || !holds || at.length < (found?.point.length ?? 0)) continue;
    found = { type, options: [...own.split(","), ...ofFileSystem.split(",")], point: at };
  }
  return found && { type: found.type, options: found.options };
}

export async function readMountOf(path: string): Promise<Mount | undefined> {
  return mountOf(path, await readFile("/proc/self/mountinfo", "utf8"));
}

const localTypes = new Set(["ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"]);
/** `fuse.ceph-fuse`: Ceph's own client, of the same file system as that of the kernel. */
const clusterTypes = new Set(["ceph", "fuse.ceph-fuse", "gfs2", "ocfs2"]);

/** Whether a call to it never waits for another machine. */
export function isLocalMount(mount: Mount | undefined): boolean {
  return mount !== undefined && localTypes.has(mount.type);
}

const goodMount =
  "mount the tree by NFS 4.1 or newer (`vers=4.2,hard,actimeo=1,lookupcache=positive`), or CephFS";

function optionOf({ options }: Mount, name: string): string | undefined {
  return options.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** NFS before 4.1 has no sessions: a request that is sent again may be done twice, and a link or rename then fails. */
function isOldNfs(mount: Mount): boolean {
  return Number(optionOf(mount, "vers") ?? 3) < 4.1;
}

/** Longer than this a node does not see what another one has put into a folder, or has taken from it, or written. */
const longestCacheSeconds = 5;

const shortCaches = "mount it with `actimeo=1,lookupcache=positive`";

/** `noac`: this machine asks each time. The options that are not there have the defaults of Linux. */
function cacheFindings(stateDir: string, mount: Mount): readonly CheckFinding[] {
  const findings: CheckFinding[] = [];
  if (mount.options.includes("noac")) return findings;
  const seconds = ["acdirmax", "acregmax"].map((name) => Number(optionOf(mount, name) ?? 60));
  const longest = Math.max(...seconds);
  if (longest > longestCacheSeconds)
    findings.push(
      warning(
        `this machine believes for up to ${longest} s what it knows of folders and files in ${stateDir}: those of other ` +
          "nodes are seen so late",
        shortCaches,
      ),
    );
  // As the kernel writes it.
  if (!["pos", "positive", "none"].includes(optionOf(mount, "lookupcache") ?? "all"))
    findings.push(
      warning(
        `this machine goes on believing for a while that a file is not in ${stateDir} when it has not been there once`,
        shortCaches,
      ),
    );
  return findings;
}

function nfsFindings(stateDir: string, mount: Mount): readonly CheckFinding[] {
  const named = `${stateDir} is on NFS ${optionOf(mount, "vers") ?? ""}`.trim();
  if (isOldNfs(mount))
    return [
      problem(`${named}, on which several nodes lose files: links and locks cannot be trusted`, goodMount),
    ];
  const findings: CheckFinding[] = [fine(`${named}, which several nodes may share`)];
  if (mount.options.includes("soft") || mount.options.includes("softerr"))
    findings.push(problem(`${stateDir} is mounted soft: writes are given up in silence`, "mount it `hard`"));
  if (mount.options.includes("nolock") || ["all", "posix"].includes(optionOf(mount, "local_lock") ?? ""))
    findings.push(
      problem(
        `locks on ${stateDir} are known to this machine alone`,
        "mount it without `nolock` and `local_lock`",
      ),
    );
  return [...findings, ...cacheFindings(stateDir, mount)];
}

/** `others`: the further nodes that are there. */
export function treeMountFindings(
  stateDir: string,
  mount: Mount | undefined,
  others: readonly string[],
): readonly CheckFinding[] {
  if (mount === undefined)
    return [warning(`the file system of ${stateDir} is not in /proc/self/mountinfo`, goodMount)];
  if (mount.type === "nfs" || mount.type === "nfs4") return nfsFindings(stateDir, mount);
  if (clusterTypes.has(mount.type))
    return [fine(`${stateDir} is on ${mount.type}, which several nodes may share`)];
  if (localTypes.has(mount.type)) {
    const what = `${stateDir} is on a local file system (${mount.type})`;
    return others.length === 0
      ? [fine(`${what}: this node is to stay alone, or on one machine with the others`)]
      : [
          warning(
            `${what}, and there are further nodes (${others.join(", ")}): they must be on this machine`,
            goodMount,
          ),
        ];
  }
  const what = `${stateDir} is on ${mount.type}, of which is not known that links, renames, syncs and locks hold for several nodes`;
  return [problem(what, goodMount)];
}
