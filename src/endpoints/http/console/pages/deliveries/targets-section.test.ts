import { expect, test } from "vitest";
import { addresses } from "../../kit/link.ts";
import { consoleUser } from "../../testing/viewer.ts";
import type { ShownTarget } from "./deliveries-view.ts";
import { targetsSection } from "./targets-section.ts";

const target: ShownTarget = {
  ...{ company: "ACME", name: "host", isConfigured: true, open: 3, dead: 2, failures: 0 },
  ...{ oldestAt: null, lately: { made: 0, open: 0 }, restsUntil: null, fault: undefined, pause: undefined },
};

test("the numbers of a target lead to what they count: all that is open, waiting behind another too", () => {
  const { text } = targetsSection([target], consoleUser(), addresses({ basePath: () => "" }));
  const links = [...text.matchAll(/target=host&amp;state=(\w+)">(\d+)</g)].map(([, state, count]) => [
    state,
    count,
  ]);
  expect(links).toEqual([
    ["open", "3"],
    ["dead", "2"],
  ]);
});
