import { expect, test } from "vitest";
import { mountOf, treeMountFindings } from "./tree-mount.ts";

const nfs = (options: string) => ({ type: "nfs4", options: options.split(",") });
const caches = "acregmin=1,acregmax=1,acdirmin=1,acdirmax=1";
const short = `${caches},lookupcache=pos`;
const verdicts = (mount: Parameters<typeof treeMountFindings>[1], others: readonly string[] = []) =>
  treeMountFindings("/srv/tree", mount, others).map(({ status }) => status);

test("the mount of a path is the deepest one, and of several in one place the last one", () => {
  const mountinfo = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "40 22 0:40 / /srv rw,relatime shared:2 - xfs /dev/sdb1 rw",
    "41 40 0:41 / /srv/a\\040tree rw,relatime shared:3 - nfs4 host:/t rw,vers=4.0,hard",
    "42 40 0:42 / /srv/a\\040tree rw,noatime - nfs4 host:/t rw,vers=4.2,hard",
    "",
  ].join("\n");
  expect(mountOf("/srv/a tree/state", mountinfo)).toMatchObject({
    type: "nfs4",
    options: expect.arrayContaining(["noatime", "vers=4.2"]),
  });
  expect(mountOf("/srv/a treehouse", mountinfo)?.type).toBe("xfs");
  expect(mountOf("/var", mountinfo)?.type).toBe("ext4");
  expect(mountOf("/var", "")).toBeUndefined();
});

test.each([
  ["NFS 4.2 with short caches", nfs(`vers=4.2,hard,${short}`), ["ok"]],
  ["NFS 4.2 with long caches of files", nfs("vers=4.2,hard,acdirmax=1,lookupcache=none"), ["ok", "warning"]],
  ["NFS 4.2 that remembers what is not there", nfs(`vers=4.2,${caches}`), ["ok", "warning"]],
  ["NFS 4.1 without caches", nfs("vers=4.1,hard,noac"), ["ok"]],
  ["NFS 4.1 with the usual caches", nfs("vers=4.1,hard"), ["ok", "warning", "warning"]],
  ["NFS 4.2 that gives up", nfs(`vers=4.2,soft,${short}`), ["ok", "problem"]],
  ["NFS 4.2 with locks of one machine", nfs(`vers=4.2,local_lock=all,${short}`), ["ok", "problem"]],
  ["NFS 4.0", nfs("vers=4.0,hard"), ["problem"]],
  ["NFS 3", { type: "nfs", options: ["vers=3"] }, ["problem"]],
  ["CephFS", { type: "ceph", options: [] }, ["ok"]],
  ["CephFS by ceph-fuse", { type: "fuse.ceph-fuse", options: [] }, ["ok"]],
  ["SMB", { type: "cifs", options: ["vers=3.1.1"] }, ["problem"]],
  ["FUSE", { type: "fuse.sshfs", options: [] }, ["problem"]],
  ["a disk of this machine", { type: "ext4", options: [] }, ["ok"]],
])("a tree on %s", (_, mount, statuses) => {
  expect(verdicts(mount)).toEqual(statuses);
});

test("a local disk is questioned when there are further nodes", () => {
  expect(verdicts({ type: "ext4", options: [] }, ["two"])).toEqual(["warning"]);
});
