import { describe, expect, test } from "vitest";
import type { ExchangeEntry } from "./exchange-session.ts";
import { OpenHandles } from "./open-handles.ts";

class Upload {
  abandoned = 0;
  #ended: () => void = () => undefined;

  async abandon(): Promise<void> {
    this.abandoned += 1;
  }

  onEnded(listener: () => void): void {
    this.#ended = listener;
  }

  close(): void {
    this.#ended();
  }
}

async function* pages(log: string[], fault?: Error): AsyncGenerator<readonly ExchangeEntry[]> {
  try {
    yield [];
    if (fault !== undefined) throw fault;
    yield [];
  } finally {
    log.push("closed");
  }
}

describe("the end of a session", () => {
  test("ends what is open, and not what was closed", async () => {
    const handles = new OpenHandles();
    const [open, closed] = [await handles.keep(new Upload()), await handles.keep(new Upload())];
    closed.close();
    expect(handles.hasEnded).toBe(false);
    await handles.end();
    expect([handles.hasEnded, open.abandoned, closed.abandoned]).toEqual([true, 1, 0]);
    expect((await handles.keep(new Upload())).abandoned).toBe(1);
  });

  test("ends listings that were begun and not read to their end, each once", async () => {
    const handles = new OpenHandles();
    const log: string[] = [];
    const [left, begun] = [handles.keepListing(pages(log)), handles.keepListing(pages(log))];
    for (const listing of [left, begun]) expect(await listing.next()).toEqual({ done: false, value: [] });
    await left.return?.();
    expect(log).toHaveLength(1);
    await handles.end();
    expect(log).toHaveLength(2);
    expect(await begun.next()).toEqual({ done: true, value: undefined });
  });

  test("has nothing to do with a listing that was read to its end, or failed; a fault is told in words for clients", async () => {
    const handles = new OpenHandles();
    const log: string[] = [];
    let count = 0;
    for await (const page of handles.keepListing(pages(log))) count += 1 + page.length;
    expect(count).toBe(2);
    const fault = Object.assign(new Error("gone"), { code: "ENOENT" });
    const failing = handles.keepListing(pages(log, fault));
    await failing.next();
    await expect(failing.next()).rejects.toMatchObject({ kind: "noSuchFile", cause: fault });
    await handles.end();
    expect(log).toEqual(["closed", "closed"]);
  });
});
