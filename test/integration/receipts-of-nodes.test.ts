/** Receipts that a node leaves when it gives a company back, or dies: the next one of several has to have them all. */
import { existsSync, readlinkSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { named, pipelineSiteForEachTest, stop } from "../support/pipeline-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";

const site = pipelineSiteForEachTest();

describe.runIf(hasPostgres)("nodes that take a company over", () => {
  it("write the receipts anew that a dead node may have lost, and none that one had before it gave the company back", async () => {
    const [lost, removed] = [named("a1", 0), named("b1", 0)];
    const one = await site().startNode("one");
    for (const name of [lost, removed]) await one.upload(name, stop(name.slice(0, 2), "x"));
    await site().decided(2);
    for (const name of [lost, removed])
      await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    await one.keeper.stop(AbortSignal.timeout(5_000));
    rmSync(site().receiptPath(removed));
    // Given back: what is not there was collected.
    const two = await site().startNode("two");
    await two.keeper.stop(AbortSignal.timeout(5_000));
    expect(existsSync(site().receiptPath(removed))).toBe(false);
    rmSync(site().receiptPath(lost));
    await site().orphan();
    await site().startNode("three");
    await waitFor("the receipts to be there again", () =>
      [lost, removed].every((name) => existsSync(site().receiptPath(name))),
    );
  });

  it("write the receipts anew of a dead node after one that could not take its company over to the end", async () => {
    const name = named("a1", 0);
    const one = await site().startNode("one");
    await one.upload(name, stop("a1", "x"));
    await site().decided(1);
    await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    await one.keeper.stop(AbortSignal.timeout(5_000));
    await site().orphan();
    const two = await site().startNode("two", 100, async ({ companyId }) => {
      if (companyId === site().acme) throw new Error("the database is away");
    });
    await two.keeper.stop(AbortSignal.timeout(5_000));
    rmSync(site().receiptPath(name), { force: true });
    await site().startNode("three");
    await waitFor("the receipt to be there again", () => existsSync(site().receiptPath(name)));
  });

  it("have synced the receipts of a company that they give back", async () => {
    const one = await site().startNode("one");
    await one.upload(named("a1", 0), stop("a1", "x"));
    await one.upload(named("b1", 0), "<Stop>");
    const refused = (await site().decided(2)).find(({ state }) => state === "refused");
    await waitFor("the receipts to be there", () =>
      [named("a1", 0), named("b1", 0)].every((name) => existsSync(site().receiptPath(name))),
    );
    const handle = await open(site().receiptPath(named("a1", 0)));
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const synced: string[] = [];
    const sync = vi.spyOn(prototype, "sync").mockImplementation(async function (this: FileHandle) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    });
    onTestFinished(() => sync.mockRestore());
    expect(await site().store.leases?.order("one", true)).toBe(true);
    await waitFor("it to have given all away", () => one.keeper.statistics().lanes.working === 0);
    await one.keeper.stop(AbortSignal.timeout(5_000));
    const beside = site()
      .locations.fromLedger(refused?.location ?? "")
      .replace(/\.xml$/, ".receipt.xml");
    expect(synced).toEqual(
      expect.arrayContaining([
        site().receiptPath(named("a1", 0)),
        site().receiptPath(named("b1", 0)),
        beside,
      ]),
    );
  });
});
