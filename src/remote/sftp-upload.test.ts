import type { SFTPWrapper } from "ssh2";
import { describe, expect, test } from "vitest";
import { uploadSftpFile } from "./sftp-requests.ts";

type Done = (error?: Error) => void;

/** The library's side of a server that keeps one file, and answers writes when it is told to. */
class FakeServer {
  readonly calls: string[] = [];
  readonly waiting: { readonly at: number; readonly done: Done }[] = [];
  mostAtOnce = 0;
  file = Buffer.alloc(0);
  closeFault: Error | undefined;
  onWrite: (at: number) => Error | undefined = () => undefined;

  readonly raw = {
    open: (path: string, flags: number, done: (error: Error | undefined, handle: Buffer) => void) => {
      this.calls.push(`open ${path} ${flags}`);
      done(undefined, Buffer.from("handle"));
    },
    write: (_handle: Buffer, bytes: Buffer, from: number, length: number, at: number, done: Done) => {
      const grown = Buffer.alloc(Math.max(this.file.length, at + length));
      this.file.copy(grown);
      bytes.copy(grown, at, from, from + length);
      this.file = grown;
      this.waiting.push({ at, done });
      this.mostAtOnce = Math.max(this.mostAtOnce, this.waiting.length);
      // After the other requests of the same moment.
      setImmediate(() => {
        const [next] = this.waiting.splice(0, 1);
        next?.done(this.onWrite(next.at));
      });
    },
    close: (_handle: Buffer, done: Done) => {
      this.calls.push(`close ${this.waiting.length}`);
      done(this.closeFault);
    },
  } as unknown as SFTPWrapper;
}

const piece = 32 * 1024;
/** Write, create, truncate: without the flag that refuses what is there. */
const flags = 0x02 | 0x08 | 0x10;

describe("a file that is written to an SFTP server", () => {
  test.each([0, 1, piece, piece + 1, 40 * piece + 7])(
    "has each of its %i bytes in its place",
    async (size) => {
      const server = new FakeServer();
      const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
      await uploadSftpFile(server.raw, "in/a.xml", bytes);
      expect(server.file.equals(bytes)).toBe(true);
      expect(server.calls).toEqual([`open in/a.xml ${flags}`, "close 0"]);
      expect(server.mostAtOnce).toBe(Math.min(16, Math.ceil(size / piece)));
    },
  );

  test("is closed after a refused write, when nothing is under way any more; the refusal is what is told", async () => {
    const server = new FakeServer();
    const full = new Error("no space");
    server.onWrite = (at) => (at >= 3 * piece ? full : undefined);
    server.closeFault = new Error("closed badly");
    await expect(uploadSftpFile(server.raw, "a", Buffer.alloc(100 * piece))).rejects.toBe(full);
    expect(server.calls.at(-1)).toBe("close 0");
    expect(server.file.length).toBeLessThan(100 * piece);
  });

  test("is not written when the server fails at its close", async () => {
    const server = new FakeServer();
    server.closeFault = new Error("quota at close");
    await expect(uploadSftpFile(server.raw, "a", Buffer.from("x"))).rejects.toThrow("quota at close");
  });
});
