import { expect, test } from "vitest";
import { addresses } from "../../kit/link.ts";
import { auditTable } from "./audit-table.ts";
import type { ShownAudit } from "./audit-view.ts";

function shownChange(kind: string, before: unknown, after: unknown): string {
  const entry = { id: 1, at: 1, kind, userName: "anna", address: null, subject: "x", reason: "x" };
  const audit: ShownAudit = { ...entry, companyCode: "ACME", before, after };
  return auditTable([audit], addresses({ basePath: () => "" }), "").text.replace(/<[^>]*>/g, "");
}

test("what an act has changed is told in words, not by the names of the store", () => {
  const added = shownChange("user.add", undefined, { roles: ["DI_Inquiry"], hasPassword: true });
  expect(added).toContain("roles: after DI_Inquiry");
  expect(added).toContain("has a password: after yes");
  expect(shownChange("user.disable", { enabled: true }, { enabled: false })).toContain(
    "may sign in: before yes → after no",
  );
  expect(shownChange("file.retry", { state: "refused" }, { state: "retry" })).toContain(
    "state: before refused → after to be tried again",
  );
  expect(shownChange("delivery.retry", { state: "dead" }, { state: "waiting" })).toContain(
    "state: before given up after failures → after waits",
  );
  expect(shownChange("ban.lift", { bannedUntil: "2026-11-05T08:20:05.000Z" }, {})).toContain(
    "banned until: before 2026-11-05 08:20:05 UTC → after none",
  );
});

test("settings keep the names and values that they have in the configuration", () => {
  const entry = shownChange("config.reload", { inbound: { state: true } }, { inbound: { state: false } });
  expect(entry).toContain("inbound.state: before true → after false");
});

test("a file is told by its name, with its reference beside it, as the filter takes both", () => {
  const entry = { id: 1, at: 1, kind: "content.seen", userName: "anna", address: null, reason: null };
  const audit = {
    ...entry,
    subject: "file a b.xml r-1",
    companyCode: "ACME",
    before: undefined,
    after: undefined,
  };
  const text = auditTable([audit], addresses({ basePath: () => "" }), "").text;
  expect(text).toContain(
    '<bdi class="foreign">file a b.xml</bdi></a> <small><code><bdi>r-1</bdi></code></small>',
  );
  expect(text.replace(/<[^>]*>/g, "")).toContain("file a b.xml r-1");
});

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
