import { expect, test } from "vitest";
import type { HealthFacts, ShownNode } from "./health-view.ts";
import { nodesSection } from "./nodes-section.ts";

const one: ShownNode = {
  ...{ name: "gate-1", isThis: true, state: "working", companies: ["ACME", "OTHER"], version: "1.0.0" },
  ...{ address: { http: "one:8080", sftp: "one:2022" }, hasOtherSettings: false, startedAt: 0, seenAt: 0 },
};
const shown = (nodes: readonly ShownNode[] | undefined) => String(nodesSection({ nodes } as HealthFacts));

test("nothing is said of nodes where one daemon is alone", () => {
  expect(shown(undefined)).toBe("");
});

test("each node has its state and the companies that it has, and the one that answers says so", () => {
  const html = shown([one, { ...one, name: "gate-2", isThis: false, state: "silent", companies: [] }]);
  for (const text of ["gate-1", "this page is from here", "2: ACME, OTHER", "http one:8080, sftp one:2022"])
    expect(html).toContain(text);
  expect(html).toMatch(/gate-2[\s\S]*silent[\s\S]*none/);
  expect(html).not.toContain("Another configuration");
});

test("many companies stand behind a click, and names of others are no markup", () => {
  const companies = Array.from({ length: 25 }, (_, index) => `C<${index}>`);
  const html = shown([{ ...one, companies }]);
  expect(html).toContain("and 5 more");
  expect(html).toContain("C&lt;24&gt;");
  expect(html).not.toContain("C<2");
});

test("nodes with another configuration are named", () => {
  expect(shown([one, { ...one, name: "gate-2", hasOtherSettings: true }])).toContain("is in force on gate-2");
});
