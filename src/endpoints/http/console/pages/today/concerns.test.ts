import { expect, test } from "vitest";
import { addresses } from "../../kit/link.ts";
import type { FailingPlace, SiteStanding } from "../../live/standing.ts";
import { concernsOfSite, moveOfLate } from "./concerns.ts";

const to = addresses({ basePath: () => "" });
const now = Date.UTC(2026, 10, 5);

function told(filling: SiteStanding["filling"]): string {
  const site = { incidents: [], disk: undefined, certificates: [], troubles: [] };
  return concernsOfSite({ ...site, filling }, now, to).join("\n");
}

test("a disk that is full soon is told, with the way to its forecast; one that lasts, or is not measured, is not", () => {
  const disk = { folder: "/srv", at: now };
  expect(told([{ ...disk, isSoon: true, fullInDays: 12 }])).toMatch(
    /href="\/console\/health#growth">this machine: the disk of \/srv is full in about 12 days/,
  );
  expect(told([{ ...disk, isSoon: true, fullInDays: 0 }])).toContain("is full within a day");
  expect(
    told([
      { ...disk, isSoon: false, fullInDays: 400 },
      { ...disk, isSoon: false },
    ]),
  ).toBe("");
  expect(told(undefined)).toBe("");
});

test("late files are the host's move, unless the remote that they come by fails", () => {
  const place = (some: Partial<FailingPlace>): FailingPlace => ({
    ...{ kind: "remote", name: "partner", failures: 4, move: "administrator", ...some },
  });
  expect(moveOfLate("sftp", [place({})])).toBe("host");
  expect(moveOfLate("remote:other", [place({})])).toBe("host");
  expect(moveOfLate("remote:partner", [place({ kind: "target" })])).toBe("host");
  expect(moveOfLate("remote:partner", [place({})])).toBe("administrator");
  expect(moveOfLate("remote", [place({ move: undefined })])).toBe("partner");
});
