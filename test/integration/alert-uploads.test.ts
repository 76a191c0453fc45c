/** Uploads that are refused for want of room: when that is told, and when it is over. */
import { beforeEach, describe, expect, test } from "vitest";
import { detectUploadsRefused } from "../../src/app/alerts/detectors/uploads-refused.ts";
import type { Scan } from "../../src/app/alerts/detector.ts";
import { countRefusedUploads } from "../../src/app/watch/refused-uploads.ts";
import { operatorCode, operatorId } from "../../src/domain/alerts/audience.ts";
import type { Finding, Incident } from "../../src/domain/alerts/incident.ts";
import type { NoRoom, NoRoomReason, RefusedUploads } from "../../src/exchange/uploads/intake.ts";
import { minuteMs } from "../../src/lib/durations.ts";

const acme = { id: 1, code: "ACME" };
const now = 1_700_000_000_000;

describe("uploads refused", () => {
  const operator = { id: operatorId, code: operatorCode };
  const counts: RefusedUploads[] = [];
  const refuse = (company: string, reason: NoRoomReason, count: number) => {
    const one = counts.findIndex((known) => known.company === company && known.reason === reason);
    counts.push({ company, reason, count: count + (counts.splice(one, one === -1 ? 0 : 1)[0]?.count ?? 0) });
  };
  let lacks: readonly NoRoom[] = [];
  let [freeBytes, waiting] = [9e9, 0];
  let sources: object;

  /** As after a start: nothing is counted, and nothing is known to be lacking. */
  const restart = () => {
    counts.length = 0;
    lacks = [];
    sources = {
      pipeline: { waitingCount: () => waiting },
      config: () => ({ stateDir: "/state", inbound: { maxWaiting: 9 } }),
      intake: {
        current: () => lacks,
        space: { room: async () => ({ freeBytes, minFreeBytes: 2e9, diskBytes: 1e12 }) },
      },
      refusedUploads: countRefusedUploads(() => counts),
      refusedSinceScan: countRefusedUploads(() => counts),
    };
  };
  beforeEach(() => {
    [freeBytes, waiting] = [9e9, 0];
    restart();
  });
  const lack = (reason: NoRoomReason, company: string | undefined): NoRoom => ({
    ...{ reason, company, message: "there is no room", since: now, refused: 1 },
  });
  /** A scan so many minutes on; `open` is what the one before has found. */
  const look = async (
    at: number,
    { subject = acme, open = [] }: { subject?: Scan["subject"]; open?: readonly Finding[] } = {},
  ) => {
    const incidents = open.map((one) => ({ ...one, seenAt: now + (at - 1) * minuteMs }));
    const known = new Map(incidents.map((one) => [one.cause, one as Incident]));
    const scan = { sources, subject, now: now + at * minuteMs, open: known } as unknown;
    return await detectUploadsRefused(scan as Scan<"uploadsRefused">);
  };

  test("of a company are those for its waiting files, of the installation those for the disk", async () => {
    lacks = [lack("noSpace", undefined), lack("tooManyWaiting", "ACME")];
    [freeBytes, waiting] = [1e9, 9];
    expect(await look(0)).toMatchObject([
      {
        ...{ cause: "tooManyWaiting", count: 1, since: now },
        summary: "no more files are taken: 9 files wait (inbound.maxWaiting is 9); 1 upload was refused",
        remedy: expect.stringContaining("`dropgate files --company ACME --state waiting`") as string,
      },
    ]);
    expect(await look(0, { subject: operator })).toMatchObject([
      {
        ...{ cause: "noSpace", count: 1 },
        summary:
          "no more files are taken: the disk has 1.0 GB free, less than the 2.0 GB of storage.minFree; 1 upload was refused",
        remedy: expect.stringContaining("make room on the disk of /state") as string,
      },
    ]);
  });

  test("between two scans are told, though there is room again", async () => {
    expect([await look(0), await look(0, { subject: operator })]).toEqual([[], []]);
    refuse("ACME", "tooManyWaiting", 2);
    refuse("ACME", "noSpace", 3);
    refuse("OTHER", "noSpace", 4);
    expect(await look(1)).toMatchObject([
      {
        ...{ cause: "tooManyWaiting", count: 2, samples: [] },
        summary: "2 uploads were refused lately: too many files waited (inbound.maxWaiting)",
      },
    ]);
    expect(await look(1, { subject: operator })).toMatchObject([
      { cause: "noSpace", summary: "7 uploads were refused lately: the disk had no room (storage.minFree)" },
    ]);
    for (const at of [2, 3]) await look(at);
    expect(await look(4)).toEqual([]);
  });

  test("count on while the incident lasts, over a restart, until there is room", async () => {
    freeBytes = 1e9;
    const subject = operator;
    await look(0, { subject });
    lacks = [lack("noSpace", undefined)];
    refuse("ACME", "noSpace", 1);
    let open = await look(1, { subject });
    refuse("OTHER", "noSpace", 4);
    open = await look(2, { subject, open });
    expect(open).toMatchObject([{ count: 5 }]);
    restart();
    for (let at = 3; at < 9; at += 1) open = await look(at, { subject, open });
    expect(open).toMatchObject([
      { count: 5, summary: expect.stringMatching(/has 1\.0 GB free.*; 5 uploads were refused$/) as string },
    ]);
    refuse("ACME", "noSpace", 2);
    open = await look(9, { subject, open });
    expect(open).toMatchObject([{ count: 7 }]);
    freeBytes = 9e9;
    open = await look(10, { subject, open });
    expect(open).toMatchObject([
      { summary: "7 uploads were refused lately: the disk had no room (storage.minFree)" },
    ]);
    expect(await look(11, { subject, open })).toEqual([]);
  });

  test("of a company last over a restart as long as too many of its files wait", async () => {
    waiting = 9;
    lacks = [lack("tooManyWaiting", "ACME")];
    const open = await look(0);
    restart();
    expect(await look(5, { open })).toHaveLength(1);
    waiting = 8;
    expect(await look(6, { open })).toEqual([]);
  });
});
