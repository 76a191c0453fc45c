import { expect, test } from "vitest";
import { addresses } from "../../kit/link.ts";
import { auditTable } from "./audit-table.ts";
import type { ShownAudit } from "./audit-view.ts";

test("a sign-in says how many were refused before it, and since when they are counted", () => {
  const entry = {
    ...{ id: 1, at: 1, kind: "signedIn", userName: "anna", address: "192.0.2.1", subject: "anna" },
    ...{ companyCode: "ACME", reason: null, before: undefined },
  };
  const shown = (refusedBefore: number) => {
    const audit: ShownAudit = { ...entry, after: { refusedBefore } };
    return auditTable([audit], addresses({ basePath: () => "" }), "").text;
  };
  expect(shown(2)).toContain(
    "2 sign-ins under this name refused before it, since one succeeded or the program started",
  );
  expect(shown(0)).toContain("none was refused before it");
});
