import { expect, test } from "vitest";
import type { ShownDelivery } from "./deliveries-view.ts";
import { whyOf } from "./delivery-parts.ts";
import { html } from "../../kit/html.ts";
import { timeText } from "../../kit/times.ts";

const now = Date.now();
const soon = now + 60_000;
const later = now + 600_000;
const delivery: ShownDelivery = {
  ...{
    guid: "g",
    company: "ACME",
    target: "tms",
    isTargetConfigured: true,
    kind: "completion",
    name: "a.xml",
  },
  ...{ orderKey: "1", state: "waiting", isGivenUp: false, createdAt: now, dueAt: now - 1, deliveredAt: null },
  ...{ collectedAt: null, attempts: 1, faultText: "nothing listens there" },
};

function told(dueAt: number, standing: Parameters<typeof whyOf>[1]): string {
  return html`${whyOf({ ...delivery, dueAt }, standing)}`.text;
}

test("a delivery whose target rests goes out when the target is tried again, not when it was due", () => {
  const text = told(now - 1, { pause: undefined, restsUntil: later });
  expect(text).toContain(`It waits for the target tms, which is tried again ${timeText(later).text}.`);
  expect(text).not.toContain(timeText(now - 1).text);
  expect(told(later, { pause: undefined, restsUntil: soon })).toContain(
    `Tried again ${timeText(later).text}.`,
  );
});

test("a delivery that is due says so instead of a time that is over", () => {
  const text = told(now - 1, { pause: undefined, restsUntil: now - 1 });
  expect(text).toContain("It is due, and tried again within seconds.");
  expect(text).not.toContain("<time");
});

test("a delivery whose target is paused waits for whoever has paused it", () => {
  const pause = { by: "anna", at: now, reason: "x" };
  expect(told(soon, { pause, restsUntil: later })).toContain(
    "It waits for the target tms, which somebody has paused.",
  );
});
