import { describe, expect, test } from "vitest";
import { type Chunk, chunkBytes, UploadChunks } from "./upload-chunks.ts";

function gather() {
  const chunks: Chunk[] = [];
  return { chunks, gathered: new UploadChunks((chunk) => chunks.push(chunk)) };
}

const textOf = ({ buffer, start, length }: Chunk) => `${start}: ${buffer.subarray(0, length).toString()}`;
const placesOf = (chunks: readonly Chunk[]) => chunks.map(({ start, length }) => [start, length]);

describe("writes of an upload", () => {
  test("that follow one another are one chunk; one that is apart begins another", () => {
    const { chunks, gathered } = gather();
    gathered.put(5, Buffer.from("ab"), false);
    gathered.put(7, Buffer.from("cd"), false);
    expect(chunks).toEqual([]);
    gathered.put(10, Buffer.from("ef"), false);
    gathered.put(0, Buffer.from("gh"), false);
    gathered.flush();
    gathered.flush();
    expect(chunks.map(textOf)).toEqual(["5: abcd", "10: ef", "0: gh"]);
  });

  test("are given away when a chunk is full, however they are cut", () => {
    const { chunks, gathered } = gather();
    gathered.put(0, Buffer.alloc(chunkBytes - 1, "a"), false);
    expect(chunks).toEqual([]);
    gathered.put(chunkBytes - 1, Buffer.alloc(chunkBytes + 3, "b"), false);
    expect(placesOf(chunks)).toEqual([
      [0, chunkBytes],
      [chunkBytes, chunkBytes],
    ]);
    gathered.flush();
    expect(placesOf(chunks).at(-1)).toEqual([2 * chunkBytes, 2]);
    expect(chunks[0]?.buffer.subarray(-2).toString()).toBe("ab");
  });

  test("that are probably all have no more memory than they need, and more when there are more", () => {
    const { chunks, gathered } = gather();
    gathered.put(0, Buffer.from("abc"), true);
    gathered.flush();
    expect(chunks[0]?.buffer.byteLength).toBe(3);
    gathered.put(0, Buffer.from("abc"), true);
    gathered.put(3, Buffer.from("de"), true);
    gathered.flush();
    expect(chunks[1]?.buffer.byteLength).toBe(chunkBytes);
    expect(chunks.map(textOf)).toEqual(["0: abc", "0: abcde"]);
  });

  test("use the memory of a chunk that is written again, once, and of whole ones alone", () => {
    const { chunks, gathered } = gather();
    const next = (text: string, isAll = false) => {
      gathered.put(0, Buffer.from(text), isAll);
      gathered.flush();
      const chunk = chunks.at(-1);
      if (chunk === undefined) throw new Error("a flush gives a chunk");
      return chunk;
    };
    const [first, small] = [next("a"), next("b", true)];
    gathered.written(first);
    gathered.written(small);
    expect(next("c").buffer).toBe(first.buffer);
    expect(next("d").buffer).not.toBe(first.buffer);
  });
});
