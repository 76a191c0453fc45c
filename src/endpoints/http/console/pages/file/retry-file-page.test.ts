import { expect, test } from "vitest";
import type { RetryRehearsal, ShownChange } from "../../console-acts.ts";
import type { ConsoleServices, SeenContent } from "../../console-services.ts";
import { consoleRequest } from "../../testing/viewer.ts";
import { retryFilePage } from "./retry-file-page.ts";

const stop = { stopNbr: "4711", statusBefore: "10", statusAfter: "10" };
const updated: ShownChange = {
  ...{ ...stop, effect: "updated", fields: [{ path: "comments", before: "ring", after: "knock" }] },
};
const created: ShownChange = { ...stop, effect: "created", fields: [] };

async function show(changes: readonly ShownChange[], noteSeen: (seen: SeenContent) => Promise<void>) {
  const rehearsal: RetryRehearsal = {
    ...{ reference: "R1", name: "4711.xml", company: { id: 7, code: "ACME" }, state: "refused" },
    ...{ faultsBefore: [], why: undefined, outcome: { state: "applied", faults: [], changes } },
  };
  const services = { basePath: () => "", look: async () => [rehearsal], noteSeen };
  const request = consoleRequest({ params: { reference: "R1" } });
  const { body } = await retryFilePage.run(services as unknown as ConsoleServices, request);
  return String(body);
}

test("whoever sees by a retry what stands in a file is noted before, and sees nothing when that fails", async () => {
  const seen: SeenContent[] = [];
  const note = async (one: SeenContent) => void seen.push(one);
  expect(await show([created], note)).toContain("4711");
  expect(seen).toEqual([]);
  expect(await show([updated], note)).toContain("knock");
  expect(seen).toMatchObject([
    { companyId: 7, subject: { kind: "file", name: "4711.xml", reference: "R1" } },
  ]);
  const full = async () => Promise.reject(new Error("the disk is full"));
  await expect(show([updated], full)).rejects.toThrow("the disk is full");
});
