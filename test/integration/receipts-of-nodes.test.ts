/** Receipts that a node leaves when it gives a company back, or dies: the next one of several has to have them all. */
import { execFileSync } from "node:child_process";
import { constants, existsSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { aborted } from "../../src/lib/aborted.ts";
import { leaseMs, named, pipelineSiteForEachTest, stop } from "../support/pipeline-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";

const site = pipelineSiteForEachTest();

type Moment = "receipt_collected_at" | "received_at" | "decided_at" | "filed_at";

async function setMoments(ids: readonly number[], moments: Partial<Record<Moment, number>>): Promise<void> {
  await site().store.write(site().acme, (tx) =>
    tx
      .updateTable("files")
      .set(moments)
      .where("id", "in", [...ids])
      .execute(),
  );
}

/** Of the entries of a name. */
async function setMoment(name: string, moments: Partial<Record<Moment, number>>): Promise<void> {
  const entries = (await site().ledger()).filter((entry) => entry.name === name);
  await setMoments(
    entries.map(({ id }) => id),
    moments,
  );
}

/** A pipe, opened for writing as soon as somebody reads it. */
async function openedForReader(pipe: string): Promise<FileHandle> {
  let writer: FileHandle | undefined;
  await waitFor("somebody to read it", async () => {
    writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
    return writer !== undefined;
  });
  if (writer === undefined) throw new Error("nobody reads it");
  return writer;
}

describe.runIf(hasPostgres)("nodes that take a company over", () => {
  it("write the receipts anew that a dead node may have lost, and none that one had before it gave the company back", async () => {
    const [lost, removed] = [named("a1", 0), named("b1", 0)];
    const one = await site().startNode("one");
    for (const name of [lost, removed]) await one.upload(name, stop(name.slice(0, 2), "x"));
    await site().decided(2);
    for (const name of [lost, removed])
      await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    await one.keeper.stop(AbortSignal.timeout(60_000));
    rmSync(site().receiptPath(removed));
    // Given back: what is not there was collected.
    const two = await site().startNode("two");
    await two.keeper.stop(AbortSignal.timeout(60_000));
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
    await one.keeper.stop(AbortSignal.timeout(60_000));
    await site().orphan();
    const two = await site().startNode("two", 100, {
      take: async ({ companyId }) => {
        if (companyId === site().acme) throw new Error("the database is away");
      },
    });
    await two.keeper.stop(AbortSignal.timeout(60_000));
    rmSync(site().receiptPath(name), { force: true });
    await site().startNode("three");
    await waitFor("the receipt to be there again", () => existsSync(site().receiptPath(name)));
  });

  it("leave a receipt alone that a host has collected and deleted, and write one that was filed long after its decision", async () => {
    const [collected, collectedJustNow, late] = [named("a1", 0), named("b1", 0), named("c1", 0)];
    const one = await site().startNode("one");
    for (const name of [collected, collectedJustNow, late])
      await one.upload(name, stop(name.slice(0, 2), "x"));
    await site().decided(3);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    await setMoment(collected, { receipt_collected_at: Date.now() });
    await setMoment(late, { decided_at: Date.now() - 600_000 });
    for (const name of [collected, collectedJustNow, late]) rmSync(site().receiptPath(name));
    await site().orphan();
    const two = await site().startNode("two");
    await waitFor("the company to be taken over", () => !two.pipeline.isElsewhere(site().acme));
    // By a node that notes it a little later.
    await setMoment(collectedJustNow, { receipt_collected_at: Date.now() });
    await waitFor("the receipt to be there again", () => existsSync(site().receiptPath(late)));
    await two.keeper.stop(AbortSignal.timeout(60_000));
    for (const name of [collected, collectedJustNow])
      expect(existsSync(site().receiptPath(name))).toBe(false);
  });

  it("leave a receipt alone that was collected, when a copy of its file was refused that had come before", async () => {
    const [name, lost] = [named("a1", 0), named("b1", 0)];
    const one = await site().startNode("one");
    await one.upload(lost, stop("b1", "x"));
    for (const [at, text] of ["first", "second", "second"].entries()) {
      await one.upload(name, stop("a1", text));
      await site().decided(at + 2);
    }
    const [, refused, copy] = (await site().ledger()).filter((entry) => entry.name === name);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    await setMoments([copy?.id ?? 0], { received_at: 1 });
    await setMoments([refused?.id ?? 0], { receipt_collected_at: Date.now() });
    for (const gone of [name, lost]) rmSync(site().receiptPath(gone));
    await site().orphan();
    await site().startNode("two");
    await waitFor("the receipt to be there again", () => existsSync(site().receiptPath(lost)));
    await pause(500);
    expect(existsSync(site().receiptPath(name))).toBe(false);
  });

  it("look again for receipts that were missing when a node that had just taken them over gives them back", async () => {
    const name = named("a1", 0);
    const one = await site().startNode("one");
    await one.upload(name, stop("a1", "x"));
    await site().decided(1);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    rmSync(site().receiptPath(name));
    // Its last minute: not that of the next node.
    const filedAt = Date.now() - 90_000;
    await setMoment(name, { decided_at: filedAt, filed_at: filedAt });
    await site().orphan(Date.now() - 40_000);
    const two = await site().startNode("two");
    await waitFor("the company to be taken over", () => !two.pipeline.isElsewhere(site().acme));
    // It has told the table of leases what there was to tell, and has not looked for the receipt again.
    await pause(2_000);
    await two.keeper.stop(AbortSignal.timeout(60_000));
    expect(existsSync(site().receiptPath(name))).toBe(false);
    await site().startNode("three");
    await waitFor("the receipt to be there again", () => existsSync(site().receiptPath(name)));
  });

  it("write a receipt anew that has come since a node died, for another one may stand still that would remove it", async () => {
    const [before, since] = [named("a1", 0), named("b1", 0)];
    const one = await site().startNode("one");
    await one.upload(before, stop("a1", "x"));
    await site().decided(1);
    await waitFor("its receipt", () => existsSync(site().receiptPath(before)));
    await pause(300);
    await one.upload(since, stop("b1", "x"));
    await site().decided(2);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    const fileOf = (name: string) => statSync(site().receiptPath(name)).ino;
    const [fileBefore, fileSince] = [fileOf(before), fileOf(since)];
    const text = site().receipt(since);
    await site().orphan(statSync(site().receiptPath(since)).ctimeMs + leaseMs - 100);
    const two = await site().startNode("two");
    await waitFor("the company to be taken over", () => !two.pipeline.isElsewhere(site().acme));
    await waitFor("its receipts to be compared", () => !two.pipeline.isTakingOver(site().acme));
    expect(fileOf(since)).not.toBe(fileSince);
    expect(site().receipt(since)).toBe(text);
    expect(fileOf(before)).toBe(fileBefore);
  });

  it("go on with the work of a company while they compare the receipts that a dead node has left", async () => {
    const [stuck, next] = [named("a1", 0), named("b1", 0)];
    const one = await site().startNode("one");
    await one.upload(stuck, stop("a1", "x"));
    await site().decided(1);
    await waitFor("the receipt to be there", () => existsSync(site().receiptPath(stuck)));
    await one.keeper.stop(AbortSignal.timeout(60_000));
    const text = site().receipt(stuck);
    // Whoever reads it waits until somebody writes there.
    rmSync(site().receiptPath(stuck));
    execFileSync("mkfifo", [site().receiptPath(stuck)]);
    await site().orphan();
    const two = await site().startNode("two");
    const writer = await openedForReader(site().receiptPath(stuck));
    await two.upload(next, stop("b1", "x"));
    await waitFor("the next receipt to be there", () => existsSync(site().receiptPath(next)));
    expect(two.pipeline.isTakingOver(site().acme)).toBe(true);
    await writer.write("torn");
    await writer.close();
    await waitFor("the receipts to be compared", () => !two.pipeline.isTakingOver(site().acme));
    expect(site().receipt(stuck)).toBe(text);
  });

  it("compare the receipts of a node that gave the company back before its work had ended", async () => {
    const name = named("a1", 0);
    const one = await site().startNode("one", 100, {
      leave: async (_company, _how, deadline) => await aborted(deadline),
    });
    await one.upload(name, stop("a1", "x"));
    await site().decided(1);
    await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    expect(await site().store.leases?.order("one", true)).toBe(true);
    await waitFor("it to have given all away", async () => {
      const owners = (await site().store.leases?.owners()) ?? [];
      return owners.every(({ owner }) => owner === null);
    });
    rmSync(site().receiptPath(name));
    await site().startNode("two");
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
    await one.keeper.stop(AbortSignal.timeout(60_000));
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

describe.runIf(hasPostgres)("a node that has not the company", () => {
  it("answers no upload before the receipt of an earlier file of the name is gone", async () => {
    const name = named("a1", 0);
    const [owner, other] = await site().nodesThatNeverAsk();
    await owner.upload(name, stop("a1", "first"));
    await site().decided(1);
    await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    await other.upload(name, stop("a1", "second"));
    expect(readdirSync(dirname(site().receiptPath(name)))).toEqual([]);
    // It is told of the other one's file by what it writes itself.
    await owner.upload(named("b1", 0), stop("b1", "x"));
    await site().decided(3);
    await waitFor("the receipt to be there", () => existsSync(site().receiptPath(name)));
    expect(site().receipt(name)).toContain('ErrorMsgID="955"');
  });
});
