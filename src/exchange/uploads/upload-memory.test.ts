import { describe, expect, test } from "vitest";
import { UploadMemory } from "./upload-memory.ts";

const attributes = { isDirectory: false, size: 1, mode: 0o640, modifiedSeconds: 1, accessedSeconds: 2 };

describe("what a session has uploaded", () => {
  test("has the times that the client gave it while it was unfinished, and forgets the unfinished file", () => {
    const memory = new UploadMemory();
    memory.setTimes("/p/x", { modifiedSeconds: 10, size: 99 });
    memory.setTimes("/p/x", { accessedSeconds: 20 });
    const seen = { ...attributes, modifiedSeconds: 10, accessedSeconds: 20 };
    expect(memory.withTimes("/p/x", attributes)).toEqual(seen);
    memory.becameFile("/p/x", "/i/x", attributes);
    expect(memory.completed("/i/x")).toEqual(seen);
    expect(memory.completed("/p/x")).toBeUndefined();
    expect(memory.withTimes("/p/x", attributes)).toEqual(attributes);
  });

  test("has the times that it is given once it is complete, and no size", () => {
    const memory = new UploadMemory();
    memory.becameFile("/p/x", "/i/x", attributes);
    memory.setTimes("/i/x", { modifiedSeconds: 10, size: 99 });
    expect(memory.completed("/i/x")).toEqual({ ...attributes, modifiedSeconds: 10 });
    memory.forget("/i/x");
    expect(memory.completed("/i/x")).toBeUndefined();
  });

  test("says that the client pushes when it begins a file as soon as the one before is answered", () => {
    const memory = new UploadMemory();
    memory.opened(1_000);
    expect(memory.isPushing).toBe(false);
    memory.arrived(1_010);
    memory.opened(1_012);
    expect(memory.isPushing).toBe(true);
    memory.arrived(1_020);
    memory.opened(1_024);
    expect(memory.isPushing).toBe(false);
  });

  test("is of the last 1,000 files", () => {
    const memory = new UploadMemory();
    const complete = (name: string) => memory.becameFile(`/p/${name}`, `/i/${name}`, attributes);
    for (let number = 0; number < 1_000; number += 1) complete(String(number));
    expect(memory.completed("/i/0")).toBeDefined();
    complete("0");
    complete("1000");
    expect(memory.completed("/i/0")).toBeDefined();
    expect(memory.completed("/i/1")).toBeUndefined();
    expect(memory.completed("/i/2")).toBeDefined();
  });
});
