/**
 * Holds processes to a share of one core each, as if they ran on machines of their own: by control groups, of either version,
 * where this process may make some.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Short, so that a process that has had its share does not stand still for long. */
const periodUs = 20_000;

interface Groups {
  /** The group of all. */
  readonly root: string;
  limit(group: string, quotaUs: number): void;
}

const [older, newer] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"];

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function findGroups(): Groups | undefined {
  if (existsSync(join(older, "cpu.cfs_quota_us")) && mayWrite(older)) {
    return {
      root: older,
      limit(group, quotaUs) {
        writeFileSync(join(group, "cpu.cfs_period_us"), String(periodUs));
        writeFileSync(join(group, "cpu.cfs_quota_us"), String(quotaUs));
      },
    };
  }
  const controllers = join(newer, "cgroup.controllers");
  if (!existsSync(controllers) || !mayWrite(newer)) return undefined;
  if (!readFileSync(controllers, "utf8").split(/\s+/).includes("cpu")) return undefined;
  return {
    root: newer,
    limit(group, quotaUs) {
      writeFileSync(join(newer, "cgroup.subtree_control"), "+cpu");
      writeFileSync(join(group, "cpu.max"), `${quotaUs} ${periodUs}`);
    },
  };
}

const groups = findGroups();

/** Whether processes can be held to a share here. */
export const canShare = groups !== undefined;

/** From now on the process has this share of a core at most, 0 to 1; until the returned call. Without groups nothing happens. */
export function holdToShare(pid: number, share: number): () => void {
  if (groups === undefined) return () => undefined;
  const { root, limit } = groups;
  const group = join(root, `dropgate-bench-${pid}`);
  mkdirSync(group, { recursive: true });
  limit(group, Math.round(periodUs * share));
  writeFileSync(join(group, "cgroup.procs"), String(pid));
  return () => {
    writeFileSync(join(root, "cgroup.procs"), String(pid));
    rmdirSync(group);
  };
}
