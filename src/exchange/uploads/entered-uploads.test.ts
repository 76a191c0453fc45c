/** Uploads for companies whose work another node does. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openFixture, put } from "../../../test/support/exchange-fixture.ts";
import type { Arrival } from "../../inbound/places/inbox.ts";

test("a file that is to be entered is in the ledger when its close is answered, and not handed over", async () => {
  const calls: string[] = [];
  const holder = { release: () => calls.push("release") };
  const asked: Arrival[] = [];
  const fixture = await openFixture({
    inbox: {
      ...{ reserve: () => undefined, clearReceipt: async () => undefined, holderOf: () => holder },
      isToEnter(arrival) {
        asked.push(arrival);
        return true;
      },
      async enterElsewhere() {
        await pause(50);
        calls.push("entered");
      },
    },
    arrivals: { arrive: () => void calls.push("arrive"), flush: () => undefined },
  });
  onTestFinished(() => fixture.close());
  await put(fixture.session(), "/inbound/a.xml", "<Stop/>");
  expect(calls).toEqual(["entered"]);
  expect(asked).toMatchObject([{ name: "a.xml", reservation: { holder } }]);
});
