/** Tar archives (ustar, POSIX.1-1988) whose bytes depend on names, modes, owners and contents alone. */

export interface TarEntry {
  /** Without the slash in front; at most 255 bytes that can be parted at a slash. */
  readonly path: string;
  readonly mode: number;
  readonly owner?: number;
  readonly kind: "file" | "folder" | "link";
  readonly content?: Buffer;
  readonly target?: string;
}

const block = 512;
const typeFlags = { file: "0", link: "2", folder: "5" } as const;

/** A long path is parted at a slash into what is in front (155 bytes) and the rest (100 bytes). */
function partedPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ["", path];
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155)
      return [prefix, name];
  }
  throw new Error(`the path is too long for a tar archive: ${path}`);
}

function octal(value: number, digits: number): string {
  const text = value.toString(8).padStart(digits, "0");
  if (text.length > digits) throw new Error(`${value} does not fit into ${digits} octal digits`);
  return `${text}\0`;
}

function headerOf(entry: TarEntry, size: number, seconds: number): Buffer {
  const [prefix, name] = partedPath(entry.kind === "folder" ? `${entry.path}/` : entry.path);
  const target = entry.target ?? "";
  if (Buffer.byteLength(target) > 100) throw new Error(`the target of the link is too long: ${target}`);
  const owner = octal(entry.owner ?? 0, 7);
  const header = Buffer.alloc(block);
  const fields: readonly (readonly [offset: number, text: string])[] = [
    [0, name],
    [100, octal(entry.mode, 7)],
    [108, owner],
    [116, owner],
    [124, octal(size, 11)],
    [136, octal(seconds, 11)],
    [148, " ".repeat(8)],
    [156, typeFlags[entry.kind]],
    [157, target],
    [257, "ustar\x0000"],
    [345, prefix],
  ];
  for (const [offset, text] of fields) header.write(text, offset, "utf8");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** The archive, in the order of the entries, which all have the same time. */
export function tarOf(entries: readonly TarEntry[], seconds: number): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = entry.content ?? Buffer.alloc(0);
    const padding = Buffer.alloc((block - (content.length % block)) % block);
    return [headerOf(entry, content.length, seconds), content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}
