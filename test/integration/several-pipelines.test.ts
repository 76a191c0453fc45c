/** The inbound pipelines of several nodes over one database of a real server and one tree of folders. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Pipeline } from "../../src/inbound/pipeline.ts";
import { NotEndedError } from "../../src/store/cluster/ownership.ts";
import { listOpenFiles, requestRetry } from "../../src/store/ledger/files.ts";
import { named, type PipelineNode, pipelineSiteForEachTest, stop } from "../support/pipeline-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { waitFor } from "../support/wait-for.ts";

const site = pipelineSiteForEachTest();

describe.runIf(hasPostgres)("pipelines of several nodes", () => {
  it("give a file back that a node had taken away, which woke up amid the move of a filed one and died", async () => {
    await site().startNode("one");
    const { id } = await site().entered(named("a1", 1));
    rmSync(join(site().locations.inboundDirectory("ACME"), named("a1", 1)));
    await site().setFiled(id, 1);
    writeFileSync(join(site().locations.inboundDirectory("ACME"), `.${id}.0123abcd.gone`), "newer");
    const path = join(site().locations.inboundDirectory("ACME"), named("a1", 1));
    await waitFor("the file to be back", () => existsSync(path));
    expect(readFileSync(path, "utf8")).toBe("newer");
  });

  it("have a file in the ledger when its node answers, and the one that has the company decides about it", async () => {
    const [one, two] = [await site().startNode("one"), await site().startNode("two")];
    const [owner, other] = await site().ownerFirst(one, two);
    await other.upload(named("a1", 0), stop("a1", "x"));
    expect(await site().ledger()).toHaveLength(1);
    expect(await site().decided(1)).toMatchObject([{ name: named("a1", 0), state: "applied" }]);
    expect(site().receipt(named("a1", 0))).toContain("<Status>10</Status>");
    expect(readdirSync(join(site().locations.inboundDirectory("ACME"), ".again"))).toEqual([]);
    expect(owner.pipeline.statistics().decided.get(site().acme)).toMatchObject({ applied: 1 });
  });

  it("decide about no file before those that another node has answered earlier", async () => {
    const [owner, other] = await site().nodesThatNeverAsk();
    const stops = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const rounds = 2;
    for (let round = 0; round < rounds; round += 1)
      for (const stopNbr of stops) {
        await other.upload(named(stopNbr, 2 * round), stop(stopNbr, `v${2 * round}`));
        await owner.upload(named(stopNbr, 2 * round + 1), stop(stopNbr, `v${2 * round + 1}`));
      }
    const entries = await site().decided(2 * rounds * stops.length);
    expect(entries.filter(({ state }) => state !== "applied")).toEqual([]);
  });

  it("decide about a file while others of other stops, which are answered elsewhere, are not in line yet", async () => {
    const [owner, other] = await site().nodesThatNeverAsk();
    const hold = await owner.pipeline.hold(site().acme);
    await owner.upload(named("a1", 0), stop("a1", "x"));
    for (const stopNbr of ["b1", "b2"]) await other.upload(named(stopNbr, 1), stop(stopNbr, "x"));
    await waitFor("all to be in the ledger", async () => (await site().ledger()).length === 3);
    // Where none is ever put in line, one of another stop still is decided.
    owner.pipeline.readArrived = () => new Promise(() => undefined);
    hold();
    await waitFor("it to be decided", async () =>
      (await site().ledger()).some(({ state }) => state === "applied"),
    );
    const states = Object.fromEntries((await site().ledger()).map(({ name, state }) => [name, state]));
    expect(states).toEqual({
      [named("a1", 0)]: "applied",
      ...{ [named("b1", 1)]: "waiting", [named("b2", 1)]: "waiting" },
    });
  });

  it("decide about no file while an earlier one of its stop, which was answered elsewhere, is not in line", async () => {
    const [owner, other] = await site().nodesThatNeverAsk();
    const hold = await owner.pipeline.hold(site().acme);
    await other.upload(named("a1", 0), stop("a1", "first"));
    await owner.upload(named("a1", 1), stop("a1", "second"));
    await waitFor("both to be in the ledger", async () => (await site().ledger()).length === 2);
    hold();
    expect((await site().decided(2)).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  /** So many uploads in a row that what comes next is gathered: for a quarter of a second, as one of them is not decided. */
  async function beginBurst({ pipeline, arrivals }: PipelineNode): Promise<void> {
    onTestFinished(pipeline.keepBack(site().acme, named("kept", 0)));
    const stops = ["kept", ...Array.from({ length: 50 }, (_, index) => `s${index}`)];
    const placed = await Promise.all(stops.map((of) => site().place(pipeline, named(of, 1), stop(of, "x"))));
    for (const arrival of placed) arrivals.arrive(arrival, true);
  }

  /** What has become of the files of the stop, when all of them are decided. */
  async function statesOf(stopNbr: string, count: number): Promise<readonly string[]> {
    const states = async () =>
      (await site().ledger()).filter(({ name }) => name.startsWith(stopNbr)).map(({ state }) => state);
    await waitFor("them to be decided", async () => {
      const all = await states();
      return all.length === count && !all.includes("waiting");
    });
    return await states();
  }

  it("have the uploads of a burst in line before a file that another node has answered after them", async () => {
    const [owner, other] = await site().ownerFirst(
      await site().startNode("one"),
      await site().startNode("two"),
    );
    const first = await site().place(owner.pipeline, named("a1", 0), stop("a1", "first"));
    await beginBurst(owner);
    owner.arrivals.arrive(first);
    await other.upload(named("a1", 1), stop("a1", "second"));
    expect(await statesOf("a1", 2)).toEqual(["applied", "applied"]);
  });

  it("have them in line before a file that a folder has brought", async () => {
    const owner = await site().startNode("one");
    await waitFor("the company to be there", () => !owner.pipeline.isElsewhere(site().acme));
    const place = (second: number) =>
      site().place(owner.pipeline, named("a1", second), stop("a1", String(second)));
    const [first, second] = [await place(0), await place(1)];
    await beginBurst(owner);
    owner.arrivals.arrive(first);
    await owner.pipeline.arriveAll([second]);
    expect(await statesOf("a1", 2)).toEqual(["applied", "applied"]);
  });

  it("have them in line before an upload that ends when the company begins to leave", async () => {
    const { pipeline, arrivals, ...rest } = await site().startNode("one");
    await waitFor("the company to be there", () => !pipeline.isElsewhere(site().acme));
    const place = (second: number) => site().place(pipeline, named("a1", second), stop("a1", String(second)));
    const [first, second] = [await place(0), await place(1)];
    await beginBurst({ pipeline, arrivals, ...rest });
    arrivals.arrive(first);
    const leaving = pipeline.leave(
      { companyId: site().acme, companyCode: "ACME", orphanedAt: undefined },
      { isFenced: false },
      AbortSignal.timeout(10_000),
    );
    await pipeline.enterElsewhere([second]);
    await leaving;
    await site().orphan();
    await site().startNode("two");
    expect(await statesOf("a1", 2)).toEqual(["applied", "applied"]);
  });

  it("are told of what others have entered by whatever they write for the company", async () => {
    const [owner, other] = await site().nodesThatNeverAsk();
    await other.upload(named("a1", 5), stop("a1", "x"));
    // Its decision waits for none of later files.
    await owner.upload(named("b1", 0), stop("b1", "x"));
    expect((await site().decided(2)).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  it("hand the company over while files come, without losing, doubling or reordering any", async () => {
    const nodes = [await site().startNode("one"), await site().startNode("two")];
    const count = 120;
    for (let second = 0; second < count; second += 1) {
      if (second % 30 === 10) await site().store.leases?.order(second % 60 === 10 ? "one" : "two", true);
      if (second % 30 === 20)
        for (const name of ["one", "two"]) await site().store.leases?.order(name, false);
      await nodes[second % 2]?.upload(named("a1", second), stop("a1", `v${second}`));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const entries = await site().decided(count);
    expect(entries).toHaveLength(count);
    expect(entries.filter(({ state }) => state !== "applied")).toEqual([]);
  });

  it("decide about files while one lies there whose node died before it entered it, after the company was taken", async () => {
    site().settleMs = 600_000;
    const one = await site().startNode("one");
    await waitFor("it to have the company", () => !one.pipeline.isElsewhere(site().acme));
    writeFileSync(join(site().locations.inboundDirectory("ACME"), named("b1", 0)), stop("b1", "x"));
    await one.upload(named("a1", 1), stop("a1", "x"));
    expect(await site().decided(1)).toMatchObject([{ name: named("a1", 1), state: "applied" }]);
  });

  it("decide about nothing before what the node before has left there without entering it", async () => {
    site().settleMs = 600_000;
    const name = named("a1", 0);
    const path = join(site().locations.inboundDirectory("ACME"), name);
    writeFileSync(path, stop("a1", "first"));
    const one = await site().startNode("one");
    await waitFor("it to have the company", () => !one.pipeline.isElsewhere(site().acme));
    await one.upload(named("a1", 1), stop("a1", "second"));
    await waitFor("it to be in the ledger", async () => (await site().ledger()).length === 1);
    await pause(300);
    expect((await site().ledger()).map(({ state }) => state)).toEqual(["waiting"]);
    // As the first scan takes it.
    await one.pipeline.arriveAll([
      { companyId: site().acme, name, path, channel: "recovered", size: 1 } as const,
    ]);
    expect((await site().decided(2)).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  it("go on with what waits in the ledger when they take a company over", async () => {
    await site().entered(named("a1", 1));
    await site().startNode("one");
    expect(await site().decided(1)).toMatchObject([{ state: "applied" }]);
  });

  it("decide about files while the other work of a company has still to begin", async () => {
    const one = await site().startNode("one");
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    onTestFinished(() => begin());
    await site().store.leases?.order("one", true);
    await waitFor("it to have given all away", () => one.keeper.statistics().lanes.working === 0);
    const starting = site().startNode("two", 100, {
      take: ({ companyId }) => (companyId === site().acme ? begun : Promise.resolve()),
    });
    await waitFor("the other to have the lease", async () =>
      ((await site().store.leases?.owners()) ?? []).every(({ owner }) => owner === "two"),
    );
    await one.upload(named("a1", 0), stop("a1", "x"));
    expect(await site().decided(1)).toMatchObject([{ state: "applied" }]);
    begin();
    const two = await starting;
    expect(two.keeper.statistics().lanes.working).toBe(2);
  });

  it("retry a file where the company is, whichever node is asked", async () => {
    const [one, two] = [await site().startNode("one"), await site().startNode("two")];
    const [, other] = await site().ownerFirst(one, two);
    await other.upload(named("a1", 0), "<Stop>");
    const [refused] = await site().decided(1);
    expect(refused?.state).toBe("refused");
    await site().store.write(site().acme, (tx) => requestRetry(tx, { id: refused?.id ?? 0, now: 2 }));
    await waitFor(
      "the retry",
      async () =>
        (await listOpenFiles(site().store.read, { states: ["retry"], afterId: 0, limit: 9 })).length === 0,
    );
  });

  it("enter a file that was answered once, also when the other has decided about it and not moved it yet", async () => {
    const [, other] = await site().nodesThatNeverAsk();
    const files = [await site().entered(named("a1", 1)), await site().entered(named("a1", 2))];
    for (const { id } of files) await site().setFiled(id, 0);
    const [decidedOne, replaced] = files.map(({ arrival }) => arrival);
    if (decidedOne === undefined || replaced === undefined) throw new Error("there are two");
    await other.pipeline.arriveAll([decidedOne, replaced]);
    await pause(300);
    expect(await site().ledger()).toHaveLength(2);
    // One is moved away as the file of its entry; in the place of the other is a later file of the name.
    rmSync(decidedOne.path);
    for (const { id } of files) await site().setFiled(id, 1);
    await waitFor("the later one to be entered", async () => (await site().ledger()).length > 2);
    await other.pipeline.stop();
    expect((await site().ledger()).map(({ name }) => name)).toEqual([
      decidedOne.name,
      replaced.name,
      replaced.name,
    ]);
  });

  /** Placed at a node that has not the company, which it has then, and whose scan is taking the file. */
  async function placedBeforeItCame() {
    const [owner, { pipeline }] = await site().nodesThatNeverAsk();
    const placed = await site().place(pipeline, named("a1", 0), stop("a1", "placed"));
    await owner.keeper.stop(AbortSignal.timeout(60_000));
    await waitFor("the company to come", () => !pipeline.isElsewhere(site().acme));
    pipeline.reserve(placed.path, placed);
    return { pipeline, placed };
  }

  /** Placed at a node that has the company, which goes then and comes back, and whose scan is taking the file. */
  async function placedBeforeItCameBack() {
    const { pipeline } = await site().startNode("one");
    await waitFor("the company to be there", () => !pipeline.isElsewhere(site().acme));
    const placed = await site().place(pipeline, named("a1", 0), stop("a1", "placed"));
    await site().orphan();
    const isBack = () => {
      const holder = pipeline.holderOf(site().acme);
      return holder !== undefined && holder !== placed.reservation?.holder;
    };
    await waitFor("the company to be back", isBack);
    pipeline.reserve(placed.path, placed);
    return { pipeline, placed };
  }

  for (const [when, placing] of Object.entries({
    "before its company came": placedBeforeItCame,
    "before its company went and came back": placedBeforeItCameBack,
  })) {
    it(`leave what a scan has reserved to it, when its file was placed ${when}`, async () => {
      const { pipeline, placed } = await placing();
      expect(pipeline.isToEnter(placed)).toBe(true);
      await pipeline.enterElsewhere([placed]);
      expect(pipeline.isKnown(placed.path)).toBe(true);
      await pause(300);
      expect(pipeline.undecidedCount(site().acme)).toBe(0);
      await pipeline.arriveAll([site().found(placed)]);
      expect(await site().decided(1)).toMatchObject([{ state: "applied", channel: "sftp" }]);
      await waitFor("the path to be given back", () => !pipeline.isKnown(placed.path));
      expect(await site().ledger()).toHaveLength(1);
    });

    it(`put no file in line beside a scan, when it was placed ${when}`, async () => {
      const { pipeline, placed } = await placing();
      await pipeline.arriveAll([placed]);
      expect(pipeline.isKnown(placed.path)).toBe(true);
      expect(pipeline.undecidedCount(site().acme)).toBe(0);
      await pipeline.arriveAll([site().found(placed)]);
      await site().decided(1);
      await waitFor("the path to be given back", () => !pipeline.isKnown(placed.path));
      expect(await site().ledger()).toMatchObject([{ state: "applied", isFiled: true }]);
    });
  }

  it("have a file in the ledger when they answer it after their lease, whatever still ends there", async () => {
    const one = await site().startNode("one");
    one.isLost = true;
    await one.upload(named("a1", 0), stop("a1", "late"));
    expect(await site().ledger()).toMatchObject([{ name: named("a1", 0), channel: "sftp" }]);
  });

  it("have a file in the ledger when they answer it, when another node has taken the company that ends there", async () => {
    const { pipeline } = await site().startNode("one");
    await waitFor("the company to be there", () => !pipeline.isElsewhere(site().acme));
    const placed = await site().place(pipeline, named("a1", 0), stop("a1", "straddles"));
    const company = { companyId: site().acme, companyCode: "ACME", orphanedAt: undefined };
    const leaving = pipeline.leave(company, { isFenced: false }, AbortSignal.timeout(10_000));
    await site().orphan();
    const two = await site().startNode("two");
    await waitFor("the company to be at the other", () => !two.pipeline.isElsewhere(site().acme));
    await pipeline.enterElsewhere([placed]);
    expect(await site().ledger()).toHaveLength(1);
    // It has been given up when the keeper of this node has seen by then that its lease is over.
    await leaving.catch((error: unknown) => expect(error).toBeInstanceOf(NotEndedError));
    expect(await site().decided(1)).toMatchObject([{ state: "applied" }]);
  });

  it("answer no upload while the receipt of an earlier file lies there, when the work of the company is given up", async () => {
    const name = named("a1", 0);
    const { pipeline, keeper, upload } = await site().startNode("one");
    await waitFor("the company to be there", () => !pipeline.isElsewhere(site().acme));
    await upload(name, stop("a1", "first"));
    await site().decided(1);
    await waitFor("its receipt", () => existsSync(site().receiptPath(name)));
    const placed = await site().place(pipeline, name, stop("a1", "second"));
    // As when its removal was too late, because the storage was slow.
    writeFileSync(site().receiptPath(name), "of the first");
    const { forget } = Pipeline.prototype;
    const forgotten = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const spy = vi.spyOn(Pipeline.prototype, "forget").mockImplementation(async function (this: Pipeline) {
      await forget.call(this);
      forgotten.resolve();
      await goOn.promise;
    });
    onTestFinished(() => spy.mockRestore());
    const stopping = keeper.stop(AbortSignal.timeout(100));
    await forgotten.promise;
    await pipeline.enterElsewhere([placed]);
    expect(existsSync(site().receiptPath(name))).toBe(false);
    expect(await site().ledger()).toHaveLength(2);
    expect(pipeline.isKnown(placed.path)).toBe(false);
    goOn.resolve();
    await stopping;
    await site().startNode("two");
    expect((await site().decided(2)).map(({ state }) => state)).toEqual(["applied", "refused"]);
  });

  it("give the company back although an upload began before that and ends behind it", async () => {
    const one = await site().startNode("one");
    const placed = await site().place(one.pipeline, named("a1", 0), stop("a1", "straddles"));
    await site().store.leases?.order("one", true);
    await waitFor("the company to be leaving", () => one.pipeline.isElsewhere(site().acme));
    await one.pipeline.enterElsewhere([placed]);
    await waitFor("the path to be given back", () => !one.pipeline.isKnown(placed.path));
    await waitFor("it to be given back", () => one.keeper.statistics().lanes.draining === 0);
    expect(one.keeper.statistics().lost).toBe(0);
    await site().startNode("two");
    expect(await site().decided(1)).toMatchObject([{ state: "applied" }]);
    expect(await site().ledger()).toHaveLength(1);
  });
});
