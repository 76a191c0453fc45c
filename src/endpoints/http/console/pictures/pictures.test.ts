import { describe, expect, it } from "vitest";
import { hourMs, minuteMs } from "../../../../lib/durations.ts";
import { lanesPicture } from "./lanes-picture.ts";
import { type DayVisit, loadDayPicture } from "./load-day-picture.ts";
import { labelText } from "./picture.ts";
import { type RouteView, routePicture } from "./route-picture.ts";
import { stepsPicture } from "./steps-picture.ts";

const noon = Date.UTC(2026, 10, 5, 12);
const frame = { id: "p", title: "Title", description: "What is seen" };
const hostile = `"><script>alert(1)</script>\u202Ecba${"x".repeat(2_000)}`;
const words = {
  planned: (label: string) => `planned ${label}`,
  expected: (label: string) => `expected ${label}`,
  actual: (label: string) => `actual ${label}`,
};
const dayOptions = { words, nowLabel: "now" };

/** Tags, without what stands between them; no attribute may come from a text. */
function tagsOf(text: string): readonly string[] {
  return [...text.matchAll(/<\/?([a-zA-Z]+)/g)].map(([, name]) => name ?? "");
}

function expectSafe(text: string | undefined): void {
  expect(text).toBeDefined();
  expect(tagsOf(text ?? "")).not.toContain("script");
  expect(text).not.toMatch(/ style=| on[a-z]+=/);
  expect(text).not.toContain("NaN");
  expect(text).not.toContain("Infinity");
}

describe("pictures", () => {
  it("tell title and description to those who cannot see them", () => {
    const { text } = stepsPicture(frame, [{ name: "closed", at: noon, kind: "done" }]);
    expect(text).toContain('role="img" aria-labelledby="p-title p-desc"');
    expect(text).toContain('<title id="p-title">Title</title><desc id="p-desc">What is seen</desc>');
  });

  it("show hostile texts as texts, cut to a bearable length", () => {
    const visit: DayVisit = { label: hostile, arrivedAt: noon, isLate: false };
    const lane = { name: hostile, marks: [{ at: noon, label: hostile, kind: "bad" as const }] };
    const place = { latitude: 50, longitude: 8 };
    const route: RouteView = {
      visits: [{ place, label: hostile, mark: hostile, radiusMetres: 100, kind: "done" }],
      track: [],
      last: { place, label: hostile },
    };
    for (const picture of [
      stepsPicture({ ...frame, title: hostile }, [{ name: hostile, at: noon, note: hostile, kind: "bad" }]),
      lanesPicture(frame, [lane], {}),
      loadDayPicture(frame, [visit], dayOptions),
      routePicture(frame, route),
    ])
      expectSafe(picture?.text);
  });

  it("cut labels between signs, never within one", () => {
    expect(labelText("😀😀😀", 2)).toBe("😀…");
    expect(labelText("short", 10)).toBe("short");
  });
});

describe("the ladder of a file", () => {
  it("tells the time between steps, over those that are not recorded", () => {
    const { text } = stepsPicture(frame, [
      { name: "closed", at: noon, kind: "done" },
      { name: "parsed", at: undefined, note: "not recorded", kind: "unrecorded" },
      { name: "decided", at: noon + 42, kind: "done" },
    ]);
    expect(text).toContain("+ 42 ms");
    expect(text).toContain("picture-unrecorded");
    expect(text.match(/<circle/g)).toHaveLength(3);
  });

  it("shows a step before the one above it as such, after a clock was set back", () => {
    const { text } = stepsPicture(frame, [
      { name: "closed", at: noon, kind: "done" },
      { name: "decided", at: noon - 1_000, kind: "done" },
    ]);
    expect(text).toContain("− 1 s");
  });
});

describe("the lanes of a stop", () => {
  it("are none without any moment", () => {
    expect(lanesPicture(frame, [{ name: "Files", marks: [] }], {})).toBeUndefined();
  });

  it("have a bar for a span, which can be seen however short it is", () => {
    const marks = [
      { at: noon, until: noon, label: "window", kind: "planned" as const },
      { at: noon + hourMs, label: "arrival", kind: "done" as const },
    ];
    expect(lanesPicture(frame, [{ name: "Planned", marks }], {})?.text).toContain('width="0.8%"');
  });

  it("show no more marks than can be told from each other", () => {
    const marks = Array.from({ length: 5_000 }, (_, place) => ({
      ...{ at: noon + place * minuteMs, label: "event", kind: "done" as const },
    }));
    const text = lanesPicture(frame, [{ name: "Events", marks }], {})?.text ?? "";
    expect(text.match(/<circle/g)).toHaveLength(300);
  });
});

describe("the day of a load", () => {
  const visit = (index: number): DayVisit => ({
    ...{
      label: `Stop ${index}`,
      planned: { from: noon + index * minuteMs, to: noon + (index + 30) * minuteMs },
    },
    ...{
      arrivedAt: noon + (index + 5) * minuteMs,
      departedAt: noon + (index + 10) * minuteMs,
      isLate: index % 7 === 0,
    },
  });

  it("is none when no visit has a time", () => {
    expect(loadDayPicture(frame, [{ label: "Stop 1", isLate: false }], dayOptions)).toBeUndefined();
  });

  it("shows 500 stops in a picture of bearable height and size", () => {
    const text = loadDayPicture(
      frame,
      Array.from({ length: 500 }, (_, index) => visit(index)),
      dayOptions,
    )?.text;
    expectSafe(text);
    expect(Number(/height="(\d+)"/.exec(text ?? "")?.[1])).toBeLessThan(5_000);
    expect(text?.length).toBeLessThan(400_000);
    expect(text?.match(/picture-planned/g)).toHaveLength(500);
  });

  it("marks this moment only while the day is under way", () => {
    const visits = [visit(0), visit(200)];
    expect(loadDayPicture(frame, visits, { ...dayOptions, now: noon + hourMs })?.text).toContain(
      "picture-now",
    );
    expect(loadDayPicture(frame, visits, { ...dayOptions, now: noon + 99 * hourMs })?.text).not.toContain(
      "picture-now",
    );
  });

  it("shows what is late as such, and what is expected as another form than what was", () => {
    const visits = [{ label: "Stop 1", expectedAt: noon, isLate: true }];
    const text = loadDayPicture(frame, visits, dayOptions)?.text;
    expect(text).toContain("picture-bad");
    expect(text).toContain("<path");
  });
});

describe("the route of a load", () => {
  const at = (latitude: number, longitude: number, radiusMetres = 200) => ({
    ...{ place: { latitude, longitude }, label: "Stop", mark: "1", radiusMetres, kind: "open" as const },
  });
  const pointsOf = (text: string) =>
    [...text.matchAll(/<circle class="picture-mark[^"]*" cx="([-\d.]+)" cy="([-\d.]+)"/g)].map(
      ([, x, y]) => [Number(x), Number(y)] as const,
    );
  const inside = (text: string) => pointsOf(text).every(([x, y]) => x >= 0 && x <= 400 && y >= 0 && y <= 320);

  it.each([
    ["across the 180th meridian", [at(-17, 179.9), at(-17.05, -179.9)]],
    ["around the North Pole", [at(89.9, 0), at(89.9, 120), at(89.9, -120)]],
    ["at the South Pole", [at(-90, 0), at(-89.99, 45)]],
    ["on opposite sides of the earth", [at(0, 0), at(0, 180)]],
    ["at a single place", [at(50, 8)]],
    ["at the same place many times", Array.from({ length: 20 }, () => at(50, 8))],
    ["with a geofence larger than all", [at(50, 8, 5_000_000)]],
  ])("lies in its picture %s", (_, visits) => {
    const text = routePicture(frame, { visits, track: [] })?.text ?? "";
    expectSafe(text);
    expect(pointsOf(text)).toHaveLength(visits.length);
    expect(inside(text)).toBe(true);
  });

  it("has two places on both sides of the 180th meridian near each other, east to the right", () => {
    const text = routePicture(frame, { visits: [at(0, 179.95), at(0, -179.95)], track: [] })?.text ?? "";
    const [west, east] = pointsOf(text);
    expect(east?.[0]).toBeGreaterThan(west?.[0] ?? 400);
    expect(text).toContain(">2 km<");
  });

  it("has north above and east to the right", () => {
    const [south, north, east] = pointsOf(
      routePicture(frame, { visits: [at(50, 8), at(51, 8), at(50, 9)], track: [] })?.text ?? "",
    );
    expect(north?.[1]).toBeLessThan(south?.[1] ?? 0);
    expect(east?.[0]).toBeGreaterThan(south?.[0] ?? 400);
  });

  it("has a scale that is true: as long on the picture as it says on the ground", () => {
    // A degree of latitude is 111.2 km.
    const text = routePicture(frame, { visits: [at(50, 8), at(51, 8)], track: [] })?.text ?? "";
    const [south, north] = pointsOf(text);
    const perKilometre = ((south?.[1] ?? 0) - (north?.[1] ?? 0)) / 111.2;
    const [, kilometres] = />(\d+) km</.exec(text) ?? [];
    const [, begin, end] = /picture-scale" d="M(\d+) \d+V\d+H([\d.]+)/.exec(text) ?? [];
    expect(Number(end) - Number(begin)).toBeCloseTo(Number(kilometres) * perKilometre, 0);
  });

  it("draws a geofence as large as it is", () => {
    const text = routePicture(frame, { visits: [at(50, 8, 1_000)], track: [] })?.text ?? "";
    const fence = Number(/picture-fence"[^>]* r="([\d.]+)"/.exec(text)?.[1]);
    const [, begin, end] = /picture-scale" d="M(\d+) \d+V\d+H([\d.]+)/.exec(text) ?? [];
    const metres = />(\d+) m</.exec(text)?.[1] ?? String(1_000 * Number(/>(\d+) km</.exec(text)?.[1]));
    expect(fence / 1_000).toBeCloseTo((Number(end) - Number(begin)) / Number(metres), 2);
  });

  it("shows 500 stops as dots, and the way as one line", () => {
    const visits = Array.from({ length: 500 }, (_, index) => at(50 + index / 1_000, 8));
    const track = Array.from({ length: 500 }, (_, index) => ({
      latitude: 50 + index / 1_000,
      longitude: 8.01,
    }));
    const text = routePicture(frame, { visits, track })?.text ?? "";
    expectSafe(text);
    expect(text).not.toContain("picture-number");
    expect(text.match(/<polyline/g)).toHaveLength(2);
  });

  it("is none when no place is known", () => {
    expect(routePicture(frame, { visits: [], track: [] })).toBeUndefined();
  });
});
