/** Folders of a company that this node has for a while, and that do not answer when it leaves the company. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { systemFolderDisk, type WatchedFolder } from "./folder-deps.ts";
import { FolderRig, left } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";
const overdue = AbortSignal.abort();

/** A rig that has companies for a while, and whose listings of the share hang until they are let go on. */
class HangingRig extends FolderRig {
  readonly #hanging = Promise.withResolvers<void>();
  hangs = false;
  /** How often the share was to be listed. */
  asked = 0;
  override readonly isSole = false;

  constructor() {
    super();
    this.folders = [this.folder(this.inbound, true), this.folder(this.share, false)];
    this.disk.entries = async (path) => {
      if (path === this.share) this.asked += 1;
      if (this.hangs && path === this.share) await this.#hanging.promise;
      return await systemFolderDisk.entries(path);
    };
  }

  goOn(): void {
    this.hangs = false;
    this.#hanging.resolve();
  }
}

describe("a folder that does not answer", () => {
  it("is given up when its company is to be left, and taken from when it answers and the company is back", async () => {
    await using rig = new HangingRig();
    rig.hangs = true;
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.endpoint.start(new AbortController().signal);
    await rig.endpoint.begin(1);
    await rig.endpoint.end(1, overdue);
    expect(rig.warnings(/does not answer; its company goes on without it/)).toMatchObject([
      { folder: rig.share },
    ]);
    await rig.endpoint.begin(1);
    rig.goOn();
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.end(1, overdue);
    expect(rig.names).toEqual([name]);
    expect(left(rig)).toEqual([name]);
    expect(readdirSync(rig.share)).toEqual([]);
  });

  it("is asked nothing more before it answers, however often its company comes and goes; its standing tells since when", async () => {
    await using rig = new HangingRig();
    rig.hangs = true;
    rig.nowMs = 1_000;
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.endpoint.start(new AbortController().signal);
    const ofShare = () => rig.endpoint.standings(1).find(({ isInbox }) => !isInbox);
    for (let nth = 0; nth < 3; nth += 1) {
      await rig.endpoint.begin(1);
      await waitFor("the inbox to be scanned", () => rig.endpoint.standings(1)[0]?.lookedAt !== undefined);
      expect(ofShare()).toMatchObject({ lookedAt: undefined, scanningSince: 1_000 });
      rig.nowMs += 1_000;
      await rig.endpoint.end(1, overdue);
    }
    expect(rig.asked).toBe(1);
    await rig.endpoint.begin(1);
    rig.goOn();
    await rig.until(() => rig.arrivals.length > 0);
    expect(rig.asked).toBeGreaterThan(1);
    expect(ofShare()?.lookedAt).toBe(4_000);
    await rig.endpoint.end(1, overdue);
  });

  it("hands nothing over of what it places later: whoever has the company by then finds it", async () => {
    await using rig = new HangingRig();
    writeFileSync(join(rig.share, name), "<Stop/>");
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    rig.beforeTake = async ({ kind }) => {
      if (kind !== "place") return;
      asked.resolve();
      await answer.promise;
    };
    await rig.endpoint.start(new AbortController().signal);
    await rig.endpoint.begin(1);
    await asked.promise;
    await rig.endpoint.end(1, overdue);
    // As the pipeline forgets all of a company that it leaves.
    rig.known.clear();
    answer.resolve();
    await waitFor("the file to be placed", () => left(rig).length > 0 && readdirSync(rig.share).length === 0);
    await pause(50);
    expect(rig.arrivals).toEqual([]);
    await rig.endpoint.begin(1);
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.end(1, overdue);
    expect(rig.names).toEqual([name]);
  });

  it("and was taken out of the configuration keeps no other company", async () => {
    await using rig = new HangingRig();
    const other = join(rig.root, "companies", "OTHER", "inbound");
    mkdirSync(other, { recursive: true });
    const ofOther: WatchedFolder = { ...rig.folder(other, true), companyId: 2, inboundDirectory: other };
    rig.folders = [...rig.folders, ofOther];
    rig.hangs = true;
    await rig.endpoint.start(new AbortController().signal);
    for (const companyId of [1, 2]) await rig.endpoint.begin(companyId);
    rig.folders = [rig.folder(rig.inbound, true), ofOther];
    await rig.endpoint.scanNow();
    await rig.endpoint.end(2, new AbortController().signal);
    // Nor its own.
    await rig.endpoint.end(1, overdue);
    rig.goOn();
  });
});
