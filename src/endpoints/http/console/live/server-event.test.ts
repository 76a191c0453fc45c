import { expect, test } from "vitest";
import { eventText } from "./server-event.ts";

test("each line of the data has its field, so that none can pass for an event of its own", () => {
  const data = "<b>\nevent: reload\r\n\rid: 1";
  expect(eventText({ event: "refusal", id: "r1", data })).toBe(
    "id: r1\nevent: refusal\ndata: <b>\ndata: event: reload\ndata: \ndata: id: 1\n\n",
  );
});
