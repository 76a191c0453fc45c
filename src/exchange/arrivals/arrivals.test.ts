import { expect, test } from "vitest";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { createArrivals } from "./arrivals.ts";

function arrivalOf(name: string): Arrival {
  return { companyId: 1, name, path: `/inbound/${name}`, channel: "sftp", size: 1 };
}

test("every file reaches the pipeline, once and in order, the last ones at the latest by a flush", () => {
  const handed: string[] = [];
  const arrivals = createArrivals({
    arriveAll: async (all) => void handed.push(...all.map(({ name }) => name)),
    undecidedCount: () => handed.length,
  });
  const names = Array.from({ length: 100 }, (_, index) => `s${index}.xml`);
  for (const name of names) {
    arrivals.received(1);
    arrivals.arrive(arrivalOf(name));
  }
  arrivals.flush();
  arrivals.flush();
  arrivals.stop();
  expect(handed).toEqual(names);
});
