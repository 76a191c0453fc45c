import { localTimeOf } from "../../../domain/time/zoned-time.ts";
import { findCompany } from "../../../store/accounts/companies.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";
import { dayMs } from "../../../lib/durations.ts";

const weekMs = 7 * dayMs;

/** Expectations of the company that are late, each by its name. */
export const detectLateArrivals: Detector<"lateArrivals"> = async ({ subject, now, read, sources }) => {
  const company = await findCompany(read, subject.code);
  const late = company === undefined ? [] : await sources.arrivalWatch.lateOf(company, now);
  return late.map(({ name, expected: { atLeast, zone }, window: { dueAt, beginsAt, count } }) => {
    const deadline = `${localTimeOf(dueAt, zone).slice(0, 16).replace("T", " ")} (${zone})`;
    const expected = counted(atLeast, "file was", "files were");
    const list = now - beginsAt < weekMs ? ` --since ${new Date(beginsAt).toISOString().slice(0, 19)}` : "";
    return {
      // Each deadline is an incident of its own: that of yesterday must not hide the one of today.
      cause: `${name} ${deadline.slice(0, 10)}`,
      summary: `${expected} expected until ${deadline}, and ${count === 0 ? "none" : count} arrived`,
      count: atLeast - count,
      since: dueAt,
      samples: [],
      remedy:
        "ask the host whether its export has run and whether it can sign in; `dropgate files --company " +
        `${subject.code}${list}\` lists what came, refused files too, and \`dropgate arrivals\` how it stands`,
    };
  });
};
