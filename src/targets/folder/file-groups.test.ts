import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { FileGroups, groupSize } from "./file-groups.ts";
import { ownDisk } from "./folder-disk.ts";
import type { GroupOutcome } from "./place-group.ts";

const never = new AbortController().signal;
const fileOf = (name: string) => ({ name, temporaryName: `.${name}.part`, bytes: Buffer.from(name) });
const delivered = { kind: "delivered" } as const;

/** A thread that answers when the test lets it. */
class HeldThread {
  readonly asked: string[][] = [];
  readonly #answers: PromiseWithResolvers<readonly GroupOutcome[]>[] = [];

  place(_folder: string, files: readonly { readonly name: string }[]): Promise<readonly GroupOutcome[]> {
    this.asked.push(files.map(({ name }) => name));
    const answer = Promise.withResolvers<readonly GroupOutcome[]>();
    this.#answers.push(answer);
    return answer.promise;
  }

  answer(outcomes: readonly GroupOutcome[] = (this.asked.at(-1) ?? []).map(() => delivered)): void {
    this.#answers.at(-1)?.resolve(outcomes);
  }

  die(): void {
    this.#answers.at(-1)?.reject(new Error("the thread died"));
  }
}

function rig() {
  const thread = new HeldThread();
  const groups = new FileGroups({ folder: temporaryFolder(), disk: ownDisk, thread, fewestForThread: 2 });
  const place = (names: readonly string[], signal = never) =>
    names.map((name) => groups.place(fileOf(name), signal));
  const asked = (count: number) => expect.poll(() => thread.asked.length).toBe(count);
  return { thread, place, asked };
}

test("files that come in one turn are a group, those that come meanwhile the next one", async () => {
  const { thread, place, asked } = rig();
  const first = place(["a", "b"]);
  await asked(1);
  const second = place(["c", "d", "e"]);
  thread.answer();
  expect(await Promise.all(first)).toEqual([delivered, delivered]);
  await asked(2);
  thread.answer([delivered, { kind: "nameTaken", name: "d" }, delivered]);
  expect(await Promise.all(second)).toEqual([delivered, { kind: "nameTaken", name: "d" }, delivered]);
  expect(thread.asked).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
});

test("a group has a bound, and so few as a single file need no thread", async () => {
  const { thread, place, asked } = rig();
  const names = [...Array(groupSize + 1).keys()].map(String);
  const all = place(names);
  await asked(1);
  thread.answer();
  expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(["delivered"]));
  expect(thread.asked).toEqual([names.slice(0, groupSize)]);
});

test("what is given up while it waits is not placed", async () => {
  const { thread, place, asked } = rig();
  const first = place(["a", "b"]);
  await asked(1);
  const stopping = new AbortController();
  const [given] = place(["c"], stopping.signal);
  const others = place(["d", "e"]);
  stopping.abort(new Error("stopping"));
  thread.answer();
  await expect(given).rejects.toThrow("stopping");
  await Promise.all(first);
  await asked(2);
  thread.answer();
  await Promise.all(others);
  expect(thread.asked.at(-1)).toEqual(["d", "e"]);
});

test("a thread that dies fails its group alone, and a fault of ours its file alone", async () => {
  const { thread, place, asked } = rig();
  const first = place(["a", "b"]);
  await asked(1);
  const second = place(["c", "d"]);
  thread.die();
  // No delivery is to blame: the target pauses, and keeps the order of each stop.
  const outcome = { scope: "target", isPermanent: false };
  for (const one of first) await expect(one).rejects.toMatchObject({ outcome, message: /the thread died/ });
  await asked(2);
  thread.answer([{ kind: "broken", message: "a bug" }, delivered]);
  await expect(second[0]).rejects.toThrow("c could not be placed: a bug");
  expect(await second[1]).toEqual(delivered);
});
