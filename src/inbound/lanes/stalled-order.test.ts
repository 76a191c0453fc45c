/** A file that does not go on keeps back the later files of its stops, and no others, whatever fails. */
import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StoreError } from "../../lib/store-error.ts";
import type { PipelineSettings } from "./lane-runner.ts";
import {
  FaultyPipeline,
  noFaults,
  type ReadFault,
  stopXml,
  unreadable,
} from "../../../test/support/faulty-pipeline.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

let rig: FaultyPipeline;
let acme: number;
let companies = 0;

const usual: Partial<PipelineSettings> = {
  giveUpAfterMs: 3_600_000,
  rulesFor: () => ({ names: "strict", lateFiles: "refuse" }),
};

beforeAll(async () => {
  rig = await FaultyPipeline.start();
});
beforeEach(async () => {
  companies += 1;
  acme = await rig.addCompany(`ACME${companies}`);
});
afterEach(() => {
  rig.faults = noFaults;
  rig.settings = { ...rig.settings, ...usual };
});
afterAll(() => rig.end());

const at = (stop: string, hour: string) => `${stop}_20261105_${hour}0000.xml`;

async function send(...files: readonly (readonly [string, string])[]): Promise<void> {
  await rig.pipeline.arriveAll(files.map(([name, content]) => rig.arrival(acme, name, content)));
}

async function untilState(name: string, state: string): Promise<void> {
  await waitToPass(async () => expect((await rig.states(acme))[name]).toBe(state));
}

async function settled(): Promise<void> {
  await waitToPass(() => expect(rig.pipeline.waitingTotal).toBe(0));
}

function heldFiles() {
  const held = rig.pipeline.held().find(({ company }) => company === `ACME${companies}`);
  if (held === undefined) throw new Error("the company has no lane");
  return held;
}

/** Until the test ends the fault, reading this file fails. */
function failToRead(name: string, fault: ReadFault): () => void {
  rig.faults = { ...noFaults, read: (_, other) => (other === name ? fault : undefined) };
  return () => {
    rig.faults = noFaults;
  };
}

describe("a file whose group the store did not take", () => {
  it("lets an earlier file of its stop go first that has come meanwhile", async () => {
    let hasFailed = false;
    rig.faults = {
      ...noFaults,
      decide: (_, name) => {
        if (name !== at("b", "09") || hasFailed) return undefined;
        hasFailed = true;
        void send([at("b", "08"), stopXml(["b"])]);
        return new StoreError("unavailable", "disk is full", undefined);
      },
    };
    await send([at("a", "08"), stopXml(["a"])], [at("b", "09"), stopXml(["b"])]);
    await waitToPass(() => expect(hasFailed).toBe(true));
    await settled();
    expect(Object.values(await rig.states(acme))).toEqual(["applied", "applied", "applied"]);
  });
});

describe("a file that cannot be read", () => {
  it.each([
    ["no descriptor is left", unreadable("EMFILE")],
    ["the disk fails", unreadable("EIO")],
    ["it is forbidden", unreadable("EACCES")],
    ["its folder has gone", unreadable("ENOENT")],
    ["the parser fails", new Error("the parser threads are gone")],
  ])("keeps back the later files of its stop and no others, when %s", async (_, fault) => {
    const mend = failToRead(at("a", "08"), fault);
    await send(
      [at("a", "08"), stopXml(["a"])],
      [at("a", "09"), stopXml(["a"])],
      [at("b", "10"), stopXml(["b"])],
    );
    await untilState(at("b", "10"), "applied");
    // It comes while the first is parked, by another way in, and is earlier than what waits.
    await rig.pipeline.arriveAll([rig.arrival(acme, at("a", "07"), stopXml(["a"]), "folder")]);
    await untilState(at("a", "07"), "applied");
    await rig.pipeline.arriveAll([rig.arrival(acme, at("a", "10"), stopXml(["A"]), "remote:partner")]);
    await rig.pipeline.arriveAll([rig.arrival(acme, at("c", "11"), stopXml(["c"]), "ftp")]);
    await untilState(at("c", "11"), "applied");
    expect(await rig.states(acme)).toMatchObject({
      [at("a", "08")]: "waiting",
      [at("a", "09")]: "waiting",
      [at("a", "10")]: "waiting",
    });
    await waitToPass(() => expect(heldFiles().keptBack).toBe(2));
    expect(heldFiles()).toMatchObject({ first: [{ name: at("a", "08") }] });
    mend();
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
    expect(heldFiles()).toMatchObject({ keptBack: 0, first: [] });
  });

  it("for a moment at its first look is read again before anybody has to wait", async () => {
    let failures = 0;
    rig.faults = {
      ...noFaults,
      read: (_, name) => (name === at("a", "08") && ++failures <= 2 ? unreadable("EMFILE") : undefined),
    };
    // Nobody could know from its name that it is about b as well.
    await send([at("a", "08"), stopXml(["a", "b"])], [at("b", "09"), stopXml(["b"])]);
    await settled();
    expect(Object.values(await rig.states(acme))).toEqual(["applied", "applied"]);
  });

  it("keeps back a file of several stops, and that one the later files of all its stops", async () => {
    const mend = failToRead(at("a", "08"), unreadable("EIO"));
    await send(
      [at("a", "08"), stopXml(["a"])],
      [at("b", "09"), stopXml(["b", "a"])],
      [at("b", "10"), stopXml(["b"])],
      [at("c", "11"), stopXml(["c"])],
    );
    await untilState(at("c", "11"), "applied");
    expect(await rig.states(acme)).toMatchObject({ [at("b", "09")]: "waiting", [at("b", "10")]: "waiting" });
    mend();
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
  });

  it("and has never been read keeps back the stop in its name alone; overtaken at another, it is refused whole", async () => {
    const mend = failToRead(at("a", "08"), unreadable("EIO"));
    await send([at("a", "08"), stopXml(["a", "b"])]);
    await waitToPass(() => expect(heldFiles().counts.unreadable).toBe(1));
    await send([at("b", "09"), stopXml(["b"])], [at("a", "10"), stopXml(["a"])]);
    await untilState(at("b", "09"), "applied");
    expect((await rig.states(acme))[at("a", "10")]).toBe("waiting");
    mend();
    await settled();
    // It would put an older state over the newer one of b, and a document is applied whole or not at all.
    expect(await rig.states(acme)).toEqual({
      [at("a", "08")]: "superseded",
      [at("b", "09")]: "applied",
      [at("a", "10")]: "applied",
    });
  });

  it("keeps its stop in order across a restart", async () => {
    const mend = failToRead(at("a", "08"), unreadable("EIO"));
    await send(
      [at("a", "08"), stopXml(["a"])],
      [at("a", "09"), stopXml(["a"])],
      [at("b", "10"), stopXml(["b"])],
    );
    await untilState(at("b", "10"), "applied");
    await rig.restart();
    await send([at("b", "11"), stopXml(["b"])]);
    await untilState(at("b", "11"), "applied");
    expect((await rig.states(acme))[at("a", "09")]).toBe("waiting");
    mend();
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
  });

  it("in the same second as a deletion of its stop goes by the Function, however late it could be read", async () => {
    const second = "20261105_080000";
    const lenient = () => ({ names: "lenient", lateFiles: "refuse" }) as const;
    rig.settings = { ...rig.settings, rulesFor: lenient };
    const mend = failToRead(`x_${second}.xml`, unreadable("EIO"));
    await send(
      [`x_${second}.xml`, stopXml(["x"])],
      [`y_${second}.xml`, `<Stops>${stopXml(["y"], "", "01")}${stopXml(["x"], "", "02")}</Stops>`],
      [`z_${second}.xml`, stopXml(["z"])],
    );
    await untilState(`z_${second}.xml`, "applied");
    expect((await rig.states(acme))[`y_${second}.xml`]).toBe("waiting");
    mend();
    await settled();
    // The deletion came second: there was a stop to delete.
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
  });

  it("and has no stop number in its name keeps back nothing: nobody knows its stop", async () => {
    rig.settings = { ...rig.settings, rulesFor: () => ({ names: "lenient", lateFiles: "refuse" }) };
    const mend = failToRead("orders.xml", unreadable("EIO"));
    await send(["orders.xml", stopXml(["a"])]);
    await send([at("a", "09"), stopXml(["a"])]);
    await untilState(at("a", "09"), "applied");
    mend();
    await settled();
  });

  it("is refused with its reason and a receipt once it is given up; the later files of its stop go on", async () => {
    rig.settings = { ...rig.settings, giveUpAfterMs: 50 };
    failToRead(at("a", "08"), unreadable("EACCES"));
    await send([at("a", "08"), stopXml(["a"])], [at("a", "09"), stopXml(["a"])]);
    await settled();
    expect(await rig.states(acme)).toEqual({ [at("a", "08")]: "refused", [at("a", "09")]: "applied" });
    expect(rig.receiptOf(acme, at("a", "08"))).toMatch(/ErrorMsgID="998".*could not be read \(EACCES/s);
    const [refused] = await rig.ledger(acme);
    expect([refused?.sha256, refused?.size]).toEqual([null, stopXml(["a"]).length]);
  });

  it("for want of descriptors is held as long as it takes, and that is told", async () => {
    rig.settings = { ...rig.settings, giveUpAfterMs: 1 };
    const mend = failToRead(at("a", "08"), unreadable("EMFILE"));
    await send([at("a", "08"), stopXml(["a"])]);
    await waitToPass(() => expect(heldFiles().counts.machine).toBe(1));
    expect(heldFiles().isOwnFault).toBe(true);
    expect((await rig.states(acme))[at("a", "08")]).toBe("waiting");
    mend();
    await settled();
    expect([heldFiles().isOwnFault, Object.values(await rig.states(acme))]).toEqual([false, ["applied"]]);
  });
});

describe("a file that is still incomplete", () => {
  it("keeps back later files of its stop that come by another way, until it is whole", async () => {
    const half = "<Stop><Function>01</Function>";
    const written = rig.arrival(acme, at("a", "08"), half, "folder");
    await rig.pipeline.arriveAll([written]);
    await waitToPass(() => expect(heldFiles().counts.incomplete).toBe(1));
    await send([at("a", "09"), stopXml(["a"])], [at("b", "10"), stopXml(["b"])]);
    await untilState(at("b", "10"), "applied");
    expect((await rig.states(acme))[at("a", "09")]).toBe("waiting");
    writeFileSync(written.path, stopXml(["a"]));
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
  });
});

describe("a fault of the store", () => {
  const damaged = new StoreError("damaged", "database disk image is malformed", undefined);
  const full = new StoreError("unavailable", "database or disk is full", undefined);
  const unfit = new StoreError("unfit", "no such column: routed", undefined);

  it.each([
    ["a damaged page", damaged],
    ["a schema that does not fit", unfit],
    ["a page that cannot be read", new StoreError("unavailable", "disk I/O error", undefined)],
  ])("at one stop (%s) holds the files of that stop, and no others", async (_, fault) => {
    const other = await rig.addCompany(`OTHER${companies}`);
    rig.settings = { ...rig.settings, giveUpAfterMs: 1 };
    rig.faults = {
      ...noFaults,
      decide: (company, name) =>
        company === `ACME${companies}` && name.startsWith("a_") ? fault : undefined,
    };
    await send(
      [at("a", "08"), stopXml(["a"])],
      [at("a", "09"), stopXml(["a"])],
      [at("b", "10"), stopXml(["b"])],
    );
    await rig.pipeline.arriveAll([rig.arrival(other, at("a", "08"), stopXml(["a"]))]);
    await untilState(at("b", "10"), "applied");
    await waitToPass(async () => expect(await rig.states(other)).toEqual({ [at("a", "08")]: "applied" }));
    await send([at("b", "11"), stopXml(["b"])]);
    await untilState(at("b", "11"), "applied");
    expect(heldFiles().isOwnFault).toBe(true);
    expect((await rig.states(acme))[at("a", "09")]).toBe("waiting");
    rig.faults = noFaults;
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
    expect(heldFiles().isOwnFault).toBe(false);
  });

  it("at all of them keeps all in line, refuses none, and is over when it is over", async () => {
    rig.settings = { ...rig.settings, giveUpAfterMs: 1 };
    const release = await rig.pipeline.hold(acme);
    await send(...["08", "09", "10"].map((hour) => [at("a", hour), stopXml(["a"], hour)] as const));
    await send([at("b", "08"), stopXml(["b"])]);
    rig.faults = { ...noFaults, write: () => full };
    release();
    await waitToPass(() => expect(heldFiles().halt).toMatchObject({ files: 4 }));
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["waiting"]));
    rig.faults = noFaults;
    await settled();
    expect(new Set(Object.values(await rig.states(acme)))).toEqual(new Set(["applied"]));
    expect(heldFiles().halt).toBeUndefined();
  });
});

describe("a fault of our own at one document", () => {
  it("is tried three times, then refused as internal; the later files of its stop wait, those of others do not", async () => {
    let attempts = 0;
    rig.faults = {
      ...noFaults,
      decide(_, name) {
        if (name !== at("a", "08")) return undefined;
        attempts += 1;
        return attempts <= 3 ? new Error("a bug") : undefined;
      },
    };
    await send(
      [at("a", "08"), stopXml(["a"])],
      [at("a", "09"), stopXml(["a"])],
      [at("b", "10"), stopXml(["b"])],
    );
    await untilState(at("b", "10"), "applied");
    expect((await rig.states(acme))[at("a", "09")]).toBe("waiting");
    await settled();
    expect(attempts).toBe(4);
    expect(await rig.states(acme)).toMatchObject({ [at("a", "08")]: "refused", [at("a", "09")]: "applied" });
    expect(rig.receiptOf(acme, at("a", "08"))).toContain('ErrorMsgID="998"');
  });

  it("is never decided in one commit with another file of its stop", async () => {
    let attempts = 0;
    rig.faults = {
      ...noFaults,
      decide: (_, name) => (name === at("a", "08") && ++attempts === 1 ? new Error("a bug") : undefined),
    };
    await send([at("a", "08"), stopXml(["a"])], [at("a", "09"), stopXml(["a"])]);
    await settled();
    expect(Object.values(await rig.states(acme))).toEqual(["applied", "applied"]);
  });
});
