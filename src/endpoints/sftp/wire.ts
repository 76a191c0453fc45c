/**
 * Numbers of the SFTP protocol, version 3 (draft-ietf-secsh-filexfer-02), and the sizes dropgate allows.
 */
export const packetType = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  lstat: 7,
  fstat: 8,
  setstat: 9,
  fsetstat: 10,
  opendir: 11,
  readdir: 12,
  remove: 13,
  mkdir: 14,
  rmdir: 15,
  realpath: 16,
  stat: 17,
  rename: 18,
  readlink: 19,
  symlink: 20,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attrs: 105,
  extended: 200,
  extendedReply: 201,
} as const;

export const statusCode = {
  ok: 0,
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
} as const;

export type StatusCode = (typeof statusCode)[keyof typeof statusCode];

export const openFlag = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 } as const;

export const attributeFlag = { size: 1, owner: 2, permissions: 4, times: 8, extended: 0x80000000 } as const;

/** OpenSSH's own maximum; its clients size their transfers by it. */
export const maxPacketBytes = 256 * 1024;
/** What one READ gives and one WRITE takes at most: a packet less room for its header. */
export const maxTransferBytes = maxPacketBytes - 1024;
/** A READ is clamped to this, so that one small request cannot ask for gigabytes. */
export const maxReadBytes = 256 * 1024;
export const maxPathBytes = 4096;
export const maxNameBytes = 255;

/** The extensions that VERSION names, with their version numbers. */
export const extensions = [
  ["posix-rename@openssh.com", "1"],
  ["statvfs@openssh.com", "2"],
  ["fstatvfs@openssh.com", "2"],
  ["fsync@openssh.com", "1"],
  ["limits@openssh.com", "1"],
] as const;
