import { describe, expect, test } from "vitest";
import { isMountedAt, isMountPoint } from "./mount-point.ts";

const root = "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw";

function mounts(...more: readonly string[]): string {
  return `${[root, ...more].join("\n")}\n`;
}

describe("something is mounted at a folder", () => {
  test.each([
    ["a share", "/srv/acme", mounts("40 21 0:50 / /srv/acme rw - nfs4 nas:/acme rw")],
    ["another disk", "/srv/acme", mounts("40 21 8:2 / /srv/acme rw - ext4 /dev/sdb1 rw")],
    [
      "another folder of the same disk",
      "/srv/acme",
      mounts("40 21 8:1 /data /srv/acme rw - ext4 /dev/sda1 rw"),
    ],
    ["the root", "/", mounts()],
    ["a share under a name with a blank", "/srv/a b", mounts("40 21 0:50 / /srv/a\\040b rw - cifs //n/a rw")],
    [
      "a share below another mount",
      "/srv/acme",
      mounts("40 21 8:2 / /srv rw - ext4 /dev/sdb1 rw", "41 40 0:50 / /srv/acme rw - nfs4 nas:/acme rw"),
    ],
    [
      "a share that systemd has mounted onto itself",
      "/srv/acme",
      mounts("40 21 0:50 / /srv/acme rw - nfs4 n:/a rw", "41 40 0:50 / /srv/acme rw - nfs4 n:/a rw"),
    ],
  ])("%s", (_, path, info) => expect(isMountedAt(path, info)).toBe(true));

  test.each([
    ["a plain folder", "/srv/acme", mounts()],
    ["a folder below a mount", "/srv/acme", mounts("40 21 8:2 / /srv rw - ext4 /dev/sdb1 rw")],
    [
      "a folder whose name begins as a mount's",
      "/srv/acme",
      mounts("40 21 0:50 / /srv/ac rw - nfs4 n:/a rw"),
    ],
    [
      "a folder that systemd has mounted onto itself",
      "/srv/acme",
      mounts("40 21 8:1 /srv/acme /srv/acme rw - ext4 /dev/sda1 rw"),
    ],
    [
      "such a folder on another disk",
      "/srv/acme/out",
      mounts(
        "40 21 8:2 /x /srv rw - ext4 /dev/sdb1 rw",
        "41 40 8:2 /x/acme/out /srv/acme/out rw - ext4 /dev/sdb1 rw",
      ),
    ],
  ])("but not %s", (_, path, info) => expect(isMountedAt(path, info)).toBe(false));

  test("as this machine tells", async () => {
    expect(await isMountPoint("/proc")).toBe(true);
    expect(await isMountPoint(import.meta.dirname)).toBe(false);
    await expect(isMountPoint("/proc/no such folder")).rejects.toThrow("ENOENT");
  });
});
