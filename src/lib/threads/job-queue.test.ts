import { expect, test } from "vitest";
import { JobQueue } from "./job-queue.ts";

function job(companyCode: string, id: number) {
  return { companyCode, id };
}

function taken(queue: JobQueue<ReturnType<typeof job>>): string[] {
  const order: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take())
    order.push(`${next.companyCode}${next.id}`);
  return order;
}

test("companies take turns, each in its own order", () => {
  const queue = new JobQueue<ReturnType<typeof job>>();
  for (const id of [1, 2, 3]) queue.add(job("A", id));
  queue.add(job("B", 1));
  queue.add(job("C", 1));
  queue.add(job("B", 2));
  expect(queue.size).toBe(6);
  expect(taken(queue)).toEqual(["A1", "B1", "C1", "A2", "B2", "A3"]);
  expect(queue.size).toBe(0);
});

test("a company that may have none is passed over, and keeps its turn", () => {
  const queue = new JobQueue<ReturnType<typeof job>>();
  queue.add(job("A", 1));
  queue.add(job("B", 1));
  expect(queue.has(({ companyCode }) => companyCode === "C")).toBe(false);
  expect(queue.take(({ companyCode }) => companyCode !== "A")).toEqual(job("B", 1));
  expect(queue.take(({ companyCode }) => companyCode !== "A")).toBeUndefined();
  expect(queue.take()).toEqual(job("A", 1));
});

test("one that is taken back is not worked on, and what is not there is no fault", () => {
  const queue = new JobQueue<ReturnType<typeof job>>();
  const [first, second] = [job("A", 1), job("A", 2)];
  queue.add(first);
  queue.add(second);
  queue.remove(first);
  queue.remove(job("B", 1));
  expect(taken(queue)).toEqual(["A2"]);
});

test("lines of a company take turns within the turn of their company", () => {
  const queue = new JobQueue<{ companyCode: string; id: number; line: string }>();
  for (const id of [1, 2, 3]) queue.add({ ...job("A", id), line: "long" });
  queue.add({ ...job("A", 4), line: "short" });
  for (const id of [1, 2]) queue.add({ ...job("B", id), line: "long" });
  const isShort = ({ line }: { line: string }) => line === "short";
  expect(queue.has(isShort)).toBe(true);
  expect(queue.take(isShort)?.id).toBe(4);
  expect(queue.has(isShort)).toBe(false);
  queue.add({ ...job("A", 5), line: "short" });
  expect(taken(queue)).toEqual(["B1", "A1", "B2", "A5", "A2", "A3"]);
  expect(queue.size).toBe(0);
});

test("some of one company are taken together, and those that are put back go first", () => {
  const queue = new JobQueue<ReturnType<typeof job>>();
  for (const id of [1, 2, 3]) queue.add(job("A", id));
  queue.add(job("B", 1));
  const some = queue.takeSome(({ length }) => length - 1);
  expect(some).toEqual([job("A", 1), job("A", 2)]);
  queue.putBack(some);
  expect(
    queue.takeSome(
      () => 5,
      ({ companyCode }) => companyCode === "C",
    ),
  ).toEqual([]);
  expect(taken(queue)).toEqual(["B1", "A1", "A2", "A3"]);
});
