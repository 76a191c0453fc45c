import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../../../../lib/logs/log.ts";
import type { LiveRows } from "./live-events.ts";
import { LiveHub, type Viewer } from "./live-hub.ts";
import type { CompanyStanding, Refusal, RefusalGroup, Standing } from "./standing.ts";

const day = { applied: 0, refused: 0 };

function company(companyId: number, waiting = 0): CompanyStanding {
  const code = `C${companyId}`;
  return {
    ...{
      companyId,
      companyCode: code,
      waiting,
      oldestAgeMs: 0,
      halt: undefined,
      failing: [],
      isWatched: true,
      today: day,
      weekBefore: day,
      weekBeforeByNow: day,
    },
    ...{ late: [], incidents: [], deadLetters: 0, uncollected: undefined },
    days: { today: "2026-11-05", weekBefore: "2026-10-29" },
  };
}

function refusal(reference: string, companyId: number): Refusal {
  return {
    ...{ companyId, companyCode: `C${companyId}`, reference, name: "n.xml", state: "refused", at: 1 },
    ...{ code: "missing", reasonCode: 904, message: "no Stop" },
  };
}

/** A source that the test changes, and counts how often it is asked. */
class Source {
  companies = new Map<number, CompanyStanding>();
  asked = 0;
  failure: Error | undefined;
  #listener: ((refusal: Refusal) => void) | undefined;

  constructor(...companies: readonly CompanyStanding[]) {
    for (const one of companies) this.companies.set(one.companyId, one);
  }

  standing = async (): Promise<Standing> => {
    this.asked += 1;
    if (this.failure !== undefined) throw this.failure;
    const site = { incidents: [], disk: undefined, filling: [], certificates: [], troubles: [] };
    return { at: this.asked, companies: this.companies, site };
  };

  onRefusal = (listener: (refusal: Refusal) => void) => {
    this.#listener = listener;
    return () => {
      this.#listener = undefined;
    };
  };

  groups: readonly RefusalGroup[] | Error = [];
  refusalGroups = async () => {
    if (this.groups instanceof Error) throw this.groups;
    return this.groups;
  };

  refuse(reference: string, companyId = 1, code: Refusal["code"] = "missing"): void {
    this.#listener?.({ ...refusal(reference, companyId), code });
  }
}

function hubOf(source: Source, rows: Partial<LiveRows> = {}): LiveHub {
  return new LiveHub({
    source,
    clock: { now: () => 7 },
    log: createLogger({ level: "silent" }),
    rows: {
      company: ({ companyCode, waiting }) => `<tr id="${companyCode}">${waiting}</tr>`,
      refusal: ({ reference }) => `<tr id="refusal-${reference}"></tr>`,
      refusalGroup: ({ count }, mayAct) => `<tr id="refusals">${count}${mayAct ? " act" : ""}</tr>`,
      verdict: ({ companies }, { companyIds }) =>
        `<p id="verdict">${[...companies.values()].filter((one) => companyIds.has(one.companyId) && one.waiting > 0).length}</p>`,
      ...rows,
    },
  });
}

interface Watched extends Viewer {
  readonly sent: string[];
  readonly ended: () => boolean;
}

function viewerOf(companyIds: readonly number[], after?: string): Watched {
  const sent: string[] = [];
  let isEnded = false;
  return {
    ...{ companyIds: new Set(companyIds), actIds: new Set([1]), isOperator: false, after, sent },
    send: (text) => void sent.push(text),
    end: () => {
      isEnded = true;
    },
    ended: () => isEnded,
  };
}

/** Lets ticks run, and forgets what was sent before. */
async function ticks(count: number, ...watched: readonly Watched[]): Promise<void> {
  for (const { sent } of watched) sent.length = 0;
  await vi.advanceTimersByTimeAsync(count * 1_000);
}

describe("a hub of live pages", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("sends each viewer the rows of its companies, and then only what has changed", async () => {
    const source = new Source(company(1), company(2));
    const hub = hubOf(source);
    const [own, other] = [viewerOf([1]), viewerOf([2])];
    hub.join(own);
    hub.join(other);
    await ticks(2);
    expect(own.sent.join("")).toContain('id="C1"');
    expect(own.sent.join("")).not.toContain('id="C2"');
    await ticks(3, own, other);
    expect(own.sent).toEqual([]);
    source.companies.set(1, company(1, 4));
    await ticks(1, own, other);
    expect(own.sent.join("")).toBe(
      'event: companies\ndata: <tr id="C1">4</tr>\n\nevent: verdict\ndata: <p id="verdict">1</p>\n\n',
    );
    expect(other.sent).toEqual([]);
    await hub.stop();
  });

  test("asks its source once a tick, however many watch, and not at all when nobody does", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    const leaves = Array.from({ length: 20 }, () => hub.join(viewerOf([1])));
    await ticks(1);
    source.asked = 0;
    await ticks(5);
    expect(source.asked).toBe(5);
    for (const leave of leaves) leave();
    await ticks(5);
    expect(source.asked).toBe(5);
    await hub.stop();
  });

  test("tells refusals to those who may see the company, with the reference as id", async () => {
    const source = new Source(company(1), company(2));
    const hub = hubOf(source);
    const [own, other] = [viewerOf([1]), viewerOf([2])];
    hub.join(own);
    hub.join(other);
    await ticks(2);
    source.refuse("r1");
    await ticks(1, own, other);
    expect(own.sent.join("")).toBe('id: r1\nevent: refusal\ndata: <tr id="refusal-r1"></tr>\n\n');
    expect(other.sent).toEqual([]);
    await hub.stop();
  });

  test("tells many of a kind as one row, with what to do for who may act, and others one by one", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    const [acting, looking] = [viewerOf([1]), { ...viewerOf([1]), actIds: new Set<number>() }];
    hub.join(acting);
    hub.join(looking);
    await ticks(2);
    const key = { companyId: 1, code: "missing", day: "1970-01-01" } as const;
    const group = { ...key, companyCode: "C1", reasonCode: 901, count: 9, isMore: false, message: "no Stop" };
    source.groups = [{ ...group, firstAt: 1, lastAt: 2 }];
    for (const reference of ["r1", "r2", "r3"]) source.refuse(reference);
    source.refuse("r4", 1, "badFileName");
    await ticks(1, acting, looking);
    const told = (row: string) =>
      `id: r3\nevent: refusal\ndata: ${row}\n\nid: r4\nevent: refusal\ndata: <tr id="refusal-r4"></tr>\n\n`;
    expect(acting.sent.join("")).toBe(told('<tr id="refusals">9 act</tr>'));
    expect(looking.sent.join("")).toBe(told('<tr id="refusals">9</tr>'));
    source.groups = new Error("the disk is gone");
    source.refuse("r5");
    await ticks(1, acting);
    expect(acting.sent.join("")).toContain("refusal-r5");
    await hub.stop();
  });

  test("has a page read again when many of one kind were missed", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    for (let number = 0; number < 6; number += 1) source.refuse(`r${number}`);
    const [some, many] = [viewerOf([1], "r1"), viewerOf([1], "r0")];
    hub.join(some);
    hub.join(many);
    expect(some.sent.join("").match(/event: \w+/g)).toEqual(Array(4).fill("event: refusal"));
    expect(many.sent.join("")).toContain("event: reload");
    await hub.stop();
  });

  test("sends what was missed since the last event, also what came while nobody watched", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    for (const reference of ["r1", "r2", "r3"]) source.refuse(reference);
    const back = viewerOf([1], "r1");
    hub.join(back);
    expect(back.sent.join("").match(/id: r\d/g)).toEqual(["id: r2", "id: r3"]);
    await hub.stop();
  });

  test("has a page read again when it is not known, or too much, what was missed", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    for (let number = 0; number < 60; number += 1) source.refuse(`r${number}`);
    const [lost, long] = [viewerOf([1], "before-the-restart"), viewerOf([1], "r0")];
    hub.join(lost);
    hub.join(long);
    for (const { sent } of [lost, long]) {
      expect(sent.join("")).toContain("event: reload");
      expect(sent.join("")).not.toContain("event: refusal");
    }
    await hub.stop();
  });

  test("takes 20, and the next one when one of them has left", async () => {
    const hub = hubOf(new Source(company(1)));
    const leaves = Array.from({ length: 20 }, () => hub.join(viewerOf([1])));
    expect(hub.hasRoom).toBe(false);
    const late = viewerOf([1]);
    hub.join(late);
    expect(late.ended()).toBe(true);
    leaves[0]?.();
    expect(hub.hasRoom).toBe(true);
    await hub.stop();
  });

  test("gives a sign of life within 15 seconds when there is nothing to tell", async () => {
    const hub = hubOf(new Source(company(1)));
    const viewer = viewerOf([1]);
    hub.join(viewer);
    await ticks(2);
    await ticks(20, viewer);
    expect(viewer.sent).toEqual(["event: beat\ndata: 7\n\n"]);
    await hub.stop();
  });

  test("goes on with what is known in memory while the store cannot be asked", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source);
    const viewer = viewerOf([1]);
    hub.join(viewer);
    await ticks(2);
    source.failure = new Error("the disk is gone");
    source.refuse("r1");
    await ticks(1, viewer);
    expect(viewer.sent.join("")).toContain("id: r1");
    source.failure = undefined;
    source.companies.set(1, company(1, 9));
    await ticks(1, viewer);
    expect(viewer.sent.join("")).toContain('<tr id="C1">9</tr>');
    await hub.stop();
  });

  test("a row that cannot be made is left out, and the next tick tells all again", async () => {
    const source = new Source(company(1));
    let isFailing = true;
    const hub = hubOf(source, {
      company({ waiting }) {
        if (isFailing) throw new RangeError("Invalid time value");
        return `<tr>${waiting}</tr>`;
      },
    });
    const viewer = viewerOf([1]);
    hub.join(viewer);
    await ticks(3);
    expect(viewer.sent.join("")).not.toContain("<tr>");
    isFailing = false;
    await ticks(1, viewer);
    expect(viewer.sent.join("")).toContain("<tr>0</tr>");
    await hub.stop();
  });

  test("a viewer whose first rows cannot be made keeps no place", async () => {
    const source = new Source(company(1));
    const hub = hubOf(source, {
      refusal() {
        throw new RangeError("Invalid time value");
      },
    });
    const after = hub.newestOf(new Set([1]));
    source.refuse("r1");
    for (let times = 0; times < 20; times += 1)
      expect(() => hub.join(viewerOf([1], after))).toThrow("Invalid time value");
    expect(hub.hasRoom).toBe(true);
    await hub.stop();
  });

  test("ends all at its stop, and takes nobody after that", async () => {
    const hub = hubOf(new Source(company(1)));
    const viewer = viewerOf([1]);
    hub.join(viewer);
    await hub.stop();
    expect(viewer.ended()).toBe(true);
    expect(hub.hasRoom).toBe(false);
  });
});
