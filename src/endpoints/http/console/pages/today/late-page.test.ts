import { expect, test } from "vitest";
import type { ConsoleServices } from "../../console-services.ts";
import type { CompanyStanding, LateExpectation } from "../../live/standing.ts";
import { consoleRequest, consoleUser } from "../../testing/viewer.ts";
import { lateRoute } from "./late-page.ts";
import { companyRow } from "./today-rows.ts";
import { addresses } from "../../kit/link.ts";

const late: LateExpectation = {
  ...{ name: "morning", arrived: 1, atLeast: 3, files: { name: "1*.xml", channel: "sftp" } },
  ...{ beginsAt: Date.UTC(2026, 10, 4, 18), dueAt: Date.UTC(2026, 10, 5, 7) },
};

function standing(companyId: number, companyCode: string): CompanyStanding {
  return {
    ...{ companyId, companyCode, waiting: 0, oldestAgeMs: 0, halt: undefined, incidents: [] },
    ...{ deadLetters: 0, uncollected: 4, late: [late], failing: [], isWatched: true },
    ...{ today: { applied: 5, refused: 2 }, weekBefore: { applied: 7, refused: 0 } },
    weekBeforeByNow: { applied: 31, refused: 0 },
    days: { today: "2026-11-05", weekBefore: "2026-10-29" },
  };
}

const companies = new Map([
  [7, standing(7, "ACME")],
  [8, standing(8, "OTHER")],
]);
const services = {
  basePath: () => "",
  live: { standing: async () => ({ companies }) },
} as unknown as ConsoleServices;

async function shown(query: string, isOperator = false): Promise<string> {
  const user = consoleUser({ isOperator });
  const { body } = await lateRoute.run(services, consoleRequest({ user, query: new URLSearchParams(query) }));
  return String(body);
}

test("late arrivals are told with what counts, how many have come, and what to do; of own companies alone", async () => {
  const page = await shown("company=acme");
  expect(page).toContain("named 1*.xml, over SFTP");
  expect(page).toContain("1 of 3");
  expect(page).toContain("the host&#39;s move");
  expect(page).toContain("/console/files?company=ACME&amp;from=2026-11-04&amp;name=1*.xml&amp;channel=sftp");
  expect(page).toContain("See whether the export has run");
  expect(page).not.toContain("OTHER");
  expect(page).not.toContain("`");
  expect(await shown("company=OTHER")).toContain("Nothing is late");
  expect(await shown("", true)).toContain('<code class="command">dropgate arrivals</code>');
});

test("each number of a company leads to just what it counts", () => {
  const row = companyRow(standing(7, "ACME"), addresses(services)).text;
  const day = (state: string, of: string) =>
    `/console/files?company=ACME&amp;state=${state}&amp;from=${of}&amp;to=${of}`;
  expect(row).toContain(`${day("applied", "2026-11-05")}">5<`);
  expect(row).toContain(`${day("refused", "2026-11-05")}">2<`);
  expect(row).toContain(`${day("applied", "2026-10-29")}">7<`);
  expect(row).toContain("<strong>84 % fewer than usual</strong>, about 31 by this time a week ago");
  expect(row).toContain("<strong>as usual</strong>, about 0 by this time a week ago");
  expect(row).toContain('/console/late?company=ACME">1<');
  expect(row).toContain('/console/deliveries?company=ACME&amp;fetched=late">4<');
});
