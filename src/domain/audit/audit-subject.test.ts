import { expect, test } from "vitest";
import { type AuditSubject, auditSubjectText, readAuditSubject } from "./audit-subject.ts";

test.each<AuditSubject>([
  { kind: "file", name: "4711_20261105 080000.xml", reference: "5c1e0f2a-0000-0000-0000-000000000001" },
  { kind: "delivery", name: "s1.xml", guid: "5c1e0f2a-0000-0000-0000-000000000002" },
  { kind: "export", name: "daily", sequenceNbr: 12 },
  { kind: "target", name: "host" },
  { kind: "remote", name: "carrier 2" },
  { kind: "address", name: "2001:db8::/64" },
  { kind: "user", name: "anna maria" },
  { kind: "company", name: "ACME" },
  { kind: "heldDeliveries" },
])("a subject of the kind $kind is read as it was written", (subject) => {
  expect(readAuditSubject(auditSubjectText(subject))).toEqual(subject);
});

test("what is about something else has no subject that could be linked", () => {
  expect(readAuditSubject("settings http")).toBeUndefined();
  expect(readAuditSubject("file x")).toBeUndefined();
  expect(readAuditSubject("export daily twelve")).toBeUndefined();
});
