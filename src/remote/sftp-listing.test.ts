import type { FileEntryWithStats, SFTPWrapper } from "ssh2";
import { describe, expect, test } from "vitest";
import type { ListedEntry } from "./remote-session.ts";
import { listSftpFolder } from "./sftp-requests.ts";

const endOfFile = Object.assign(new Error("EOF"), { code: 1 });

interface Listed {
  readonly filename: string;
  readonly longname?: string;
  readonly attrs?: { readonly mode?: number; readonly size?: number; readonly mtime?: number };
}

/** The library's side of a server that gives these portions, and then says what `end` is. */
function server(portions: readonly (readonly Listed[])[], end: Error = endOfFile) {
  const calls: string[] = [];
  const left = [...portions];
  const raw = {
    opendir(path: string, done: (error: Error | undefined, handle: Buffer) => void) {
      calls.push(`opendir ${path}`);
      done(undefined, Buffer.from("handle"));
    },
    readdir(_handle: Buffer, done: (error: Error | undefined, list: readonly FileEntryWithStats[]) => void) {
      calls.push("readdir");
      const portion = left.shift();
      const entries = (portion ?? []).map((entry) => ({ longname: "", attrs: {}, ...entry }));
      done(portion === undefined ? end : undefined, entries as unknown as FileEntryWithStats[]);
    },
    close(_handle: Buffer, done: () => void) {
      calls.push("close");
      done();
    },
  };
  return { calls, raw: raw as unknown as SFTPWrapper };
}

async function list(portions: readonly (readonly Listed[])[]): Promise<ListedEntry[]> {
  const taken: ListedEntry[] = [];
  const { raw } = server(portions);
  await listSftpFolder(raw, "in", async (entries) => taken.push(...entries) > 0);
  return taken;
}

describe("a folder of an SFTP server", () => {
  test("is given portion by portion, without itself and the one above, and closed", async () => {
    const { raw, calls } = server([
      [{ filename: "." }, { filename: "a" }],
      [{ filename: ".." }],
      [{ filename: "b" }],
    ]);
    const portions: string[][] = [];
    const isAll = await listSftpFolder(raw, "in", async (entries) => {
      portions.push(entries.map(({ name }) => name));
      return true;
    });
    expect(isAll).toBe(true);
    expect(portions).toEqual([["a"], [], ["b"]]);
    expect(calls).toEqual(["opendir in", "readdir", "readdir", "readdir", "readdir", "close"]);
  });

  test("is read no further when no more is wanted, and closed", async () => {
    const { raw, calls } = server([[{ filename: "a" }], [{ filename: "b" }]]);
    expect(await listSftpFolder(raw, "in", async () => false)).toBe(false);
    expect(calls).toEqual(["opendir in", "readdir", "close"]);
  });

  test("that cannot be read is closed, and the fault goes on", async () => {
    const denied = Object.assign(new Error("denied"), { code: 3 });
    const { raw, calls } = server([[{ filename: "a" }]], denied);
    await expect(listSftpFolder(raw, "in", async () => true)).rejects.toBe(denied);
    expect(calls.at(-1)).toBe("close");
  });
});

describe("an entry", () => {
  test("is what its mode says, or where there is none the first letter of its line", async () => {
    const modes = [0o100644, 0o040755, 0o120777, 0o020000].map((mode) => ({
      filename: "x",
      attrs: { mode },
    }));
    expect((await list([modes])).map(({ kind }) => kind)).toEqual(["file", "folder", "link", "other"]);
    const lines = ["drwxr-xr-x", "lrwxrwxrwx", "-rw-r--r--", ""].map((longname) => ({
      filename: "x",
      longname,
    }));
    expect((await list([lines])).map(({ kind }) => kind)).toEqual(["folder", "link", "file", "file"]);
    const bare = [{ filename: "x", longname: "drwx", attrs: { mode: 0o644 } }];
    expect((await list([bare]))[0]?.kind).toBe("folder");
  });

  test("has size and time of change, where the server tells them", async () => {
    const told = { filename: "a", attrs: { size: 12, mtime: 1_700_000_000 } };
    expect(await list([[told, { filename: "b" }]])).toEqual([
      { name: "a", kind: "file", size: 12, modified: "1700000000" },
      { name: "b", kind: "file", size: -1, modified: "" },
    ]);
  });
});
