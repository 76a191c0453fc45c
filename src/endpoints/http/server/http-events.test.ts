/** Events over the server: who gets a place among those who listen, and who is told to come again. */
import { afterEach, expect, test } from "vitest";
import { ask, type HttpFixture, startHttp } from "../../../../test/support/http-fixture.ts";
import { type Answer, type EventStream, eventStreamType, textType } from "./answer.ts";
import type { PageRoute } from "./route.ts";

let http: HttpFixture;
afterEach(() => http.close());

/** One may listen at a time. Nobody is answered before `atOnce` have asked. */
async function serveOnePlace(atOnce: number): Promise<Set<EventStream>> {
  const listening = new Set<EventStream>();
  const { promise: allHaveAsked, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const full: Answer = { status: 503, contentType: textType, body: "full\n" };
  const events: PageRoute = {
    ...{ access: "console", name: "events", method: "GET", path: "/events", version: "none" },
    errorShape: "page",
    async respond() {
      asked += 1;
      if (asked === atOnce) resolve();
      await allHaveAsked;
      const turnAway = () => (listening.size === 0 ? undefined : full);
      const subscribe = (stream: EventStream) => {
        listening.add(stream);
        stream.send("data: here\n\n");
        return () => void listening.delete(stream);
      };
      return { status: 200, contentType: eventStreamType, body: { turnAway, subscribe } };
    },
  };
  http = await startHttp({}, { routes: [events] });
  return listening;
}

test("of many who ask at once as many get events as there are places; nobody is let in and sent away", async () => {
  const listening = await serveOnePlace(5);
  const replies = Array.from({ length: 5 }, () => ask(http.port, "GET", "/events"));
  const all = Promise.all(replies);
  await expect.poll(() => listening.size).toBe(1);
  // Those without a place have their answers; this ends the one that listens.
  await Promise.any(replies);
  for (const stream of listening) stream.end();
  const answers = await all;
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 503, 503, 503, 503]);
  expect(answers.find(({ status }) => status === 200)?.body).toBe("data: here\n\n");
  const logged = http.log.filter((line) => line.includes('"route":"events"'));
  expect(logged.filter((line) => line.includes('"status":503'))).toHaveLength(4);
});
