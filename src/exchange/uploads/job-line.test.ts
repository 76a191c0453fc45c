import { describe, expect, test } from "vitest";
import { JobLine } from "./upload-file.ts";

describe("jobs on one file", () => {
  test("run one after the other", async () => {
    const line = new JobLine(() => undefined);
    const done: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    void line.add(async () => {
      await promise;
      done.push(1);
    });
    const second = line.add(async () => void done.push(2));
    resolve();
    await second;
    expect(done).toEqual([1, 2]);
    await line.done();
    expect(() => line.throwFault()).not.toThrow();
  });

  test("end with the first fault, which is told once; those behind it are passed over", async () => {
    const told: string[] = [];
    const line = new JobLine(({ message }) => told.push(message));
    const done: number[] = [];
    await line.add(() => Promise.reject(new Error("of the first")));
    await line.add(async () => void done.push(2));
    line.fail(new Error("of somebody else"));
    await line.idle();
    expect(done).toEqual([]);
    expect(told).toEqual(["The server could not do this"]);
    await expect(line.done()).rejects.toMatchObject({ cause: new Error("of the first") });
    expect(() => line.throwFault()).toThrow("The server could not do this");
  });
});
