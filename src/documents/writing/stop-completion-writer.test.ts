import { completionFormat } from "../../domain/outbound/completion-format.ts";
import { expect, test } from "vitest";
import type { CompletionEvent, StopCompletion } from "../../domain/outbound/stop-completion.ts";
import type { PartyExecution } from "../../domain/execution/stop-execution.ts";
import { renderStopCompletion } from "./stop-completion-writer.ts";

const timeZone = "America/Chicago";

function event(eventId: number, time: string, more: Partial<CompletionEvent> = {}): CompletionEvent {
  return { eventId, reportedDTTM: `2026-11-05T${time}`, timeZone, recordedAt: 0, documents: [], ...more };
}

function visit(
  arrival: string,
  departure?: { readonly at: string; readonly minutes: number },
): PartyExecution {
  const leaves = departure && { departureDTTM: `2026-11-05T${departure.at}`, duration: departure.minutes };
  return { arrivalDTTM: `2026-11-05T${arrival}`, arrivalTz: timeZone, ...leaves };
}

const plain: StopCompletion = {
  format: completionFormat,
  stop: { stopNbr: "S1" },
  stopStatus: "90",
  execution: {},
  events: [event(7009, "09:30:00")],
  triggeredBy: 7009,
};

/** The lines of one element with what is in it, without indents. */
async function linesOf(completion: StopCompletion, name: string): Promise<readonly string[]> {
  const text = await renderStopCompletion(completion);
  const inner = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(text)?.[1] ?? "";
  return inner
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

test("a file without anything unset: only what is known is there", async () => {
  expect(await renderStopCompletion(plain)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<StopCompletion>
  <StopNbr>S1</StopNbr>
  <Execution>
    <StopStatus>90</StopStatus>
    <ActualEndDTTM>2026-11-05T09:30:00</ActualEndDTTM>
  </Execution>
  <Events>
    <Event>
      <EventId>7009</EventId>
      <EventName>STOP DELIVERY</EventName>
      <ReportedDTTM>2026-11-05T09:30:00</ReportedDTTM>
      <TimeZone>America/Chicago</TimeZone>
    </Event>
  </Events>
  <TriggeredByEvent>7009</TriggeredByEvent>
</StopCompletion>
`);
});

test("of a pickup and a drop-off, work begins at the pickup, and the stop is where it is dropped off", async () => {
  const execution = { from: visit("07:00:00", { at: "07:20:00", minutes: 20 }), to: visit("09:10:00") };
  const events = [event(7009, "07:15:00"), event(7008, "07:20:00"), event(7009, "09:30:00")];
  const lines = await linesOf({ ...plain, execution, events }, "Execution");
  expect(lines.slice(1, 5)).toEqual([
    "<ActualStartDTTM>2026-11-05T07:00:00</ActualStartDTTM>",
    "<ActualEndDTTM>2026-11-05T09:30:00</ActualEndDTTM>",
    "<ArrivalDTTM>2026-11-05T09:10:00</ArrivalDTTM>",
    // No departure yet: the time up to the confirmation.
    "<ActualDuration>20</ActualDuration>",
  ]);
  expect(lines).toContain("<Pickup>");
  expect(lines).toContain("<Duration>20</Duration>");
});

test("of a pickup only, the stop is at the pickup, with its departure and its quantities", async () => {
  const completion: StopCompletion = {
    ...plain,
    stop: { stopNbr: "S1", stopType: "01", stopDetails: [{ quantity: 5, quantityUOM: "crates" }] },
    execution: {
      from: visit("07:00:00", { at: "07:25:00", minutes: 25 }),
      confirmed: { "0": { puConfirmedQty: 4, confirmedQty: 9, puScannedQty: "", scannedQty: 3 } },
    },
    events: [event(7009, "07:15:00")],
  };
  const lines = await linesOf(completion, "Execution");
  expect(lines).toContain("<ArrivalDTTM>2026-11-05T07:00:00</ArrivalDTTM>");
  expect(lines).toContain("<DepartureDTTM>2026-11-05T07:25:00</DepartureDTTM>");
  expect(lines).toContain("<ActualDuration>25</ActualDuration>");
  const detail = await linesOf(completion, "StopDetail");
  expect(detail).toContain('<ConfirmedQuantity UOM="crates">4</ConfirmedQuantity>');
  expect(detail).toContain('<ScannedQuantity UOM="crates">3</ScannedQuantity>');
  expect(await renderStopCompletion(completion)).toContain("<StopType>PU</StopType>");
});

test("a stop that is closed at the pickup has never been where it was to be dropped off", async () => {
  const completion: StopCompletion = {
    ...plain,
    stopStatus: "80",
    execution: { from: visit("07:00:00"), exceptions: [{ exceptionCode: "CLOSED", exceptionDesc: "shop" }] },
    events: [event(7007, "07:00:00"), event(7021, "07:10:00")],
    triggeredBy: 7021,
  };
  const lines = await linesOf(completion, "Execution");
  expect(lines).toContain("<ActualEndDTTM>2026-11-05T07:10:00</ActualEndDTTM>");
  expect(lines.filter((line) => line.startsWith("<ArrivalDTTM>"))).toHaveLength(1);
  expect(lines.indexOf("<Pickup>")).toBeLessThan(
    lines.indexOf("<ArrivalDTTM>2026-11-05T07:00:00</ArrivalDTTM>"),
  );
  expect(await linesOf(completion, "StopException")).toEqual([
    "<ExceptionCode>CLOSED</ExceptionCode>",
    "<ExceptionDesc>shop</ExceptionDesc>",
  ]);
});

test("a stop that is not done has no end", async () => {
  for (const stopStatus of ["30", "50", "99"] as const)
    expect(await renderStopCompletion({ ...plain, stopStatus })).not.toContain("ActualEndDTTM");
});

test("what the service recorded by itself has its time in UTC, and events keep their order", async () => {
  const recordedAt = Date.parse("2026-11-04T21:30:15Z");
  const events = [event(7009, "09:30:00"), { eventId: 7028, recordedAt, documents: [] }];
  const text = await renderStopCompletion({ ...plain, events });
  expect(text).toMatch(/>7009<.*>7028<.*2026-11-04T21:30:15<\/ReportedDTTM>\n\s*<TimeZone>UTC</s);
});

test("lines have what the driver reported of them, and no quantity from anywhere else", async () => {
  const stopDetails = [
    { quantity: "3", quantityUOM: "cartons", confirmed: { confirmedQty: 1 } },
    { quantity: "4", confirmed: { confirmedQty: 1, rcvQty: 4 } },
  ];
  const confirmed = { "1": { confirmedQty: "2", exceptionReasonCode: 17, exceptionComments: "wet" } };
  const text = await renderStopCompletion({
    ...plain,
    stop: { stopNbr: "S1", stopDetails },
    execution: { confirmed },
  });
  const [first = "", second = ""] = text.split("<StopDetail>").slice(1);
  expect(first).not.toContain("ConfirmedQuantity");
  expect(second.replaceAll(/\n\s*/g, "")).toContain(
    "<Confirmed><ConfirmedQty>2</ConfirmedQty><ExceptionReasonCode>17</ExceptionReasonCode>" +
      "<ExceptionComments>wet</ExceptionComments><RcvQty>4</RcvQty></Confirmed>" +
      "<ConfirmedQuantity>2</ConfirmedQuantity>" +
      "<ExceptionReason><Code>17</Code><Comments>wet</Comments></ExceptionReason>",
  );
});

test("fields that hosts have beside those of the interface never pass for what was executed", async () => {
  const own = {
    completion: { signature: { reference: "x" }, stopStatus: "10" },
    reported: { confirmedQty: 9 },
  };
  const stop = { stopNbr: "S1", ...own, stopDetails: [{ quantity: 1, ...own }] };
  const text = await renderStopCompletion({ ...plain, stop });
  expect(text).not.toMatch(/Signature|ConfirmedQuantity|<StopStatus>10/);
});

test("numbers are written without exponents, and what is no number not at all", async () => {
  const stop = { stopNbr: "S1", weight: 5e-7, volume: "heavy", totalPrice: " 12.50 ", totalCartons: 1e21 };
  const text = await renderStopCompletion({ ...plain, stop });
  expect(text).toContain("<Weight>0.0000005</Weight>");
  expect(text).toContain("<TotalPrice>12.50</TotalPrice>");
  expect(text).toContain("<TotalCartons>1000000000000000000000</TotalCartons>");
  expect(text).not.toContain("Volume");
});

test("two numbers of stops never become one", async () => {
  const texts = await Promise.all(
    ["A\uffff", "A", "A\uffff\uffff"].map((stopNbr) => renderStopCompletion({ ...plain, stop: { stopNbr } })),
  );
  expect(new Set(texts).size).toBe(3);
});

test("a completion of the first version keeps its bytes: fields that XML got later are not in it", async () => {
  const stop = { stopNbr: "7", markfor: { address: { name: "Anna" } }, from: { workType: "LOAD" } };
  const first = await renderStopCompletion({ ...plain, format: 1, stop });
  expect(first).toBe(await renderStopCompletion({ ...plain, format: 1, stop: { stopNbr: "7" } }));
  const second = await renderStopCompletion({ ...plain, stop });
  expect(second).toContain("<Markfor>\n    <Name>Anna</Name>\n  </Markfor>");
  expect(second).toContain("<ShipFromWorkType>LOAD</ShipFromWorkType>");
});
