/**
 * An SFTP server on standard input and output, for a share that dies between two calls: while the file of the first argument
 * is there, it passes the next request to list a folder on to nobody, and nothing after it. The second is the real server.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

/** SSH_FXP_OPENDIR. */
const openDirectory = 11;
const headLength = 5;

const [, , sentinel = "", program = ""] = process.argv;
const server = spawn(program, [], { stdio: ["pipe", "inherit", "inherit"] });
let held = Buffer.alloc(0);
let isDead = false;

process.stdin.on("data", (bytes: Buffer) => {
  held = Buffer.concat([held, bytes]);
  while (!isDead && held.length >= headLength) {
    const length = held.readUInt32BE(0) + headLength - 1;
    if (held.length < length) return;
    isDead = held[headLength - 1] === openDirectory && existsSync(sentinel);
    if (isDead) return;
    server.stdin.write(held.subarray(0, length));
    held = held.subarray(length);
  }
});
process.stdin.on("end", () => server.kill());
server.on("exit", () => process.exit());
