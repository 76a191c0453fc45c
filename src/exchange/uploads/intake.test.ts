import { describe, expect, it } from "vitest";
import type { DiskSpace } from "./disk-space.ts";
import { ExchangeError } from "../exchange-session.ts";
import { Intake } from "./intake.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

const acme = { id: 1, code: "ACME" };
const other = { id: 2, code: "OTHER" };

class Ground {
  isFull = false;
  isCutOff = false;
  waiting = 0;
  looks = 0;
  now = 0;
  readonly lines: { level: string; fields: object; message: string }[] = [];
  readonly intake: Intake;

  constructor() {
    const space: DiskSpace = {
      assertEnough: async () => {
        if (this.isFull) throw new ExchangeError("noSpace", "The server's disk has less than 2.0 GB free");
      },
      statistics: async () => {
        throw new Error("nobody asks");
      },
      room: async () => {
        throw new Error("nobody asks");
      },
    };
    const note = (level: string) => (fields: object, message: string) => {
      this.lines.push({ level, fields, message });
    };
    this.intake = new Intake({
      space,
      isCutOff: (id) => this.isCutOff && id === acme.id,
      maxWaiting: () => 5,
      waitingCount: (id) => {
        this.looks += 1;
        return id === acme.id ? this.waiting : 0;
      },
      clock: { now: () => this.now },
      log: { info: note("info"), warn: note("warn") },
      pollMs: 1,
    });
  }

  /** As an upload is refused. */
  async upload(company = acme): Promise<boolean> {
    try {
      await this.intake.assertRoom(company);
      return true;
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      this.intake.refused(company, error);
      this.intake.refused(company, error);
      return false;
    }
  }

  [Symbol.dispose](): void {
    this.intake.stop();
  }
}

it("takes nothing for companies from which the node is cut off, and says what to do", () => {
  using ground = new Ground();
  expect(() => ground.intake.assertInTouch(acme)).not.toThrow();
  ground.isCutOff = true;
  expect(() => ground.intake.assertInTouch(other)).not.toThrow();
  expect(() => ground.intake.assertInTouch(acme)).toThrow(/cannot reach its database; send the file again/);
});

describe("a lack of room", () => {
  it("of space is told when it begins and, with the count, when it ends, and counted by company", async () => {
    using ground = new Ground();
    ground.isFull = true;
    for (const company of [acme, acme, other]) expect(await ground.upload(company)).toBe(false);
    expect(ground.lines).toMatchObject([{ level: "warn", fields: { reason: "noSpace" } }]);
    expect(ground.intake.current()).toMatchObject([{ reason: "noSpace", company: undefined, refused: 3 }]);
    ground.isFull = false;
    ground.now = 60_000;
    await waitToPass(() => expect(ground.intake.current()).toEqual([]));
    expect(ground.lines.slice(1)).toEqual([
      {
        level: "info",
        fields: { reason: "noSpace", company: undefined, refusedUploads: 3, forMs: 60_000 },
        message: "files are taken again",
      },
    ]);
    expect(ground.intake.counts()).toEqual([
      { company: "ACME", reason: "noSpace", count: 2 },
      { company: "OTHER", reason: "noSpace", count: 1 },
    ]);
  });

  it("of places in line is that of one company", async () => {
    using ground = new Ground();
    ground.waiting = 5;
    expect([await ground.upload(acme), await ground.upload(other)]).toEqual([false, true]);
    expect(ground.intake.current()).toMatchObject([{ reason: "tooManyWaiting", company: "ACME" }]);
    expect(ground.intake.current()[0]?.message).toContain("inbound.maxWaiting");
  });

  it("of places in line is over a quiet while after one was free, and not because nobody asks", async () => {
    using ground = new Ground();
    ground.waiting = 5;
    await ground.upload(acme);
    ground.now = 60_000;
    const { looks } = ground;
    await waitToPass(() => expect(ground.looks).toBeGreaterThan(looks + 2));
    expect(ground.intake.current()).toMatchObject([{ reason: "tooManyWaiting" }]);
    ground.waiting = 4;
    await waitToPass(() => expect(ground.intake.current()).toEqual([]));
  });

  it("for files that can stay where they are refuses no upload, and is told all the same", async () => {
    using ground = new Ground();
    ground.isFull = true;
    expect(await ground.intake.whyNoRoom(acme)).toContain("storage.minFree");
    expect(ground.intake.current()).toMatchObject([{ refused: 0 }]);
    expect(ground.intake.counts()).toEqual([]);
    ground.isFull = false;
    expect(await ground.intake.whyNoRoom(acme)).toBeUndefined();
  });

  it("is told by a full disk amid an upload as well; other faults are not its", () => {
    using ground = new Ground();
    ground.intake.refused(acme, new ExchangeError("noSpace", "full", new Error("ENOSPC")));
    ground.intake.refused(acme, new ExchangeError("failure", "something else"));
    expect(ground.intake.counts()).toEqual([{ company: "ACME", reason: "noSpace", count: 1 }]);
    expect(ground.lines).toHaveLength(1);
  });
});
