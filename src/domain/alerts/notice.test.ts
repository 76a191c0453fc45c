import { describe, expect, test } from "vitest";
import { alertKind, alertKindNames } from "./alert-kinds.ts";
import type { IncidentNews } from "./incident.ts";
import { type NamedIncident, type NewsItem, writeNotice, writeTestNotice } from "./notice.ts";

const context = { now: 0, zone: "Europe/Berlin", installation: "Hamburg", machine: "dg1", reader: null };
/** 08:00 in Berlin. */
const openedAt = Date.UTC(2026, 10, 5, 7);

function item(rest: Partial<NamedIncident> = {}, news: IncidentNews = "opened"): NewsItem {
  const incident: NamedIncident = {
    ...{ id: 1, companyId: 1, company: "ACME", kind: "refusedFiles", cause: "", level: 1, reopened: 0 },
    ...{ summary: "2 stop files were refused", count: 2, samples: [], remedy: "call them" },
    ...{ openedAt, seenAt: openedAt + 600_000, closedAt: null },
    ...rest,
  };
  return { news, incident };
}

describe("a mail", () => {
  test("tells what, since when, how many, examples, and what to do, with times by the clocks of its readers", () => {
    const samples = [
      "2026-11-05T07:00:01.000Z a.xml: 104 wrong",
      "2026-11-05T22:30:00.000Z b.xml: 105 bad\r\nX: y",
    ];
    const { subject, text, body } = writeNotice([item({ samples })], context);
    expect(subject).toBe(
      "[dropgate Hamburg] ACME: files were refused, since 2026-11-05 08:00 (Europe/Berlin)",
    );
    expect(text).toBe(
      [
        ...["ACME: files were refused", "", "2 stop files were refused."],
        ...["Since:    2026-11-05 08:00 (Europe/Berlin)", "How many: 2", "Examples:"],
        ...["  - 2026-11-05 08:00 a.xml: 104 wrong", "  - 2026-11-05 23:30 b.xml: 105 bad X: y"],
        ...["What to do: call them.", ""],
        "`dropgate alerts` on dg1 lists all that is open; docs/alerts.md says more.",
      ].join("\n"),
    );
    // Programs read times as they are.
    expect(JSON.parse(body)).toMatchObject({ alerts: [{ samples, since: "2026-11-05T07:00:00.000Z" }] });
  });

  test("has the times of its sentence by those clocks too, and counts nothing that is one", () => {
    const summary = "the last backup was begun 2026-03-29T01:30:00.000Z, 2 days ago";
    const one = item({
      kind: "backupOverdue",
      company: "(operator)",
      summary,
      count: 1,
      samples: ["/backups/1"],
    });
    const { subject, text } = writeNotice([one], context);
    // Clocks have just gone forward.
    expect(text).toContain("The last backup was begun 2026-03-29 03:30 (Europe/Berlin), 2 days ago.");
    expect(subject).toMatch(/^\[dropgate Hamburg\] Hamburg: backups are not made, since /);
    expect(text).not.toContain("How many");
    expect(text).toContain("Details:\n  - /backups/1");
  });

  test("of what is to come says when it was noticed", () => {
    const one = item({ kind: "certificateExpiry", company: "(operator)", cause: "http", count: 1 });
    const { subject, text } = writeNotice([one], context);
    expect(subject).toBe("[dropgate Hamburg] Hamburg: a certificate expires or has expired (HTTPS)");
    expect(text).toContain("Noticed:  2026-11-05 08:00 (Europe/Berlin)");
  });

  test("names an installation once that is called dropgate itself, and shows no codes", () => {
    const one = item({ kind: "uploadsRefused", company: "(operator)", cause: "noSpace" });
    const { subject, body } = writeNotice([one], { ...context, installation: "dropgate Hamburg" });
    expect(subject).toMatch(
      /^\[dropgate Hamburg\] dropgate Hamburg: no files are taken in \(the disk is full\), /,
    );
    expect(JSON.parse(body)).toMatchObject({ alerts: [{ cause: "noSpace" }] });
  });

  test("of what is over says what it was and when it was seen last, and nothing is to be done", () => {
    const { subject, text } = writeNotice([item({ closedAt: openedAt + 1_600_000 }, "closed")], context);
    expect(subject).toContain("] over: ACME: files were refused, since ");
    expect(text).toContain("No more files are refused than may be. It was: 2 stop files were refused.");
    expect(text).toContain("Last:     2026-11-05 08:10 (Europe/Berlin)");
    expect(text).not.toContain("What to do");
  });

  test("begins with what is new and urgent, and ends with what is over", () => {
    const items = [
      item({ id: 1, closedAt: 9 }, "closed"),
      item({ id: 2, kind: "diskSpace" }, "reminder"),
      item({ id: 3, kind: "deadLetters" }),
      item({ id: 4, kind: "diskSpace" }, "worse"),
      item({ id: 5, kind: "diskSpace", level: 2 }),
    ];
    const { body, subject } = writeNotice(items, context);
    const order = (JSON.parse(body) as { alerts: { incident: number }[] }).alerts.map(
      ({ incident }) => incident,
    );
    expect(order).toEqual([5, 4, 3, 2, 1]);
    expect(subject).toMatch(/\] ACME: the disk is getting full, since .*, and 4 more$/);
  });

  test("of very many tells twenty at length, two hundred more in a line each, and counts the rest; JSON has all", () => {
    const items = Array.from({ length: 230 }, (_, id) => item({ id, kind: "deadLetters", cause: `t${id}` }));
    const { text, body } = writeNotice(items, context);
    expect(text.match(/^What to do/gm)).toHaveLength(20);
    expect(text).toContain("And 210 more:\n  - ACME: deliveries were given up (t20), since 2026-11-05 08:00");
    expect(text).toContain("(t219), since 2026-11-05 08:00 (Europe/Berlin)\n  - and 10 more than these\n");
    expect((JSON.parse(body) as { alerts: unknown[] }).alerts).toHaveLength(230);
  });
});

describe("what the people of a company read", () => {
  const toCompany = { ...context, reader: "ACME" };
  const remedyIn = (body: string) => {
    const { alerts } = JSON.parse(body) as { readonly alerts: readonly { readonly remedy: string }[] };
    return alerts.map(({ remedy }) => remedy);
  };

  test("says what they can do without signing in to the machine, and what the operator has to be told", () => {
    const remedy = "`dropgate files --company ACME --state refused` lists them";
    const { text, body } = writeNotice([item({ id: 17, remedy })], toCompany);
    const own =
      "the receipt of each file, in `receipts/`, names the reasons: correct the data, and send the file again with a " +
      "new time in its name. The operator can have a file tried again that was refused by mistake. When you need the " +
      "operator of dropgate Hamburg, name incident 17: they run `dropgate alerts --company ACME` on dg1";
    expect(text).toMatch(/^ACME: files were refused\n/);
    expect(text.split("\n").slice(-3)).toEqual([
      `What to do: ${own}.`,
      "",
      "This mail goes to the people of ACME; for questions ask the operator of dropgate Hamburg.",
    ]);
    expect(remedyIn(body)).toEqual([own]);
    expect(remedyIn(writeNotice([item({ id: 17, remedy })], context).body)).toEqual([remedy]);
  });

  test("of each kind has no command but the one for the operator, and that only while it is open", () => {
    const kinds = alertKindNames.filter((kind) => alertKind(kind).scope !== "operator");
    expect(kinds).toContain("failingRemote");
    for (const kind of kinds) {
      const remedy = "`dropgate remote retry tms` fetches at once";
      const open = writeNotice([item({ id: 17, kind, remedy })], toCompany);
      for (const said of [open.text, ...remedyIn(open.body)])
        expect(said.match(/`dropgate [^`]*`/g), kind).toEqual(["`dropgate alerts --company ACME`"]);
      const over = writeNotice([item({ kind, remedy, closedAt: openedAt + 900_000 }, "closed")], toCompany);
      for (const said of [over.text, ...remedyIn(over.body)]) expect(said, kind).not.toContain("`dropgate ");
    }
  });
});

test("a test says that nothing is wrong, and on which machine it was asked for", () => {
  const { subject, text } = writeTestNotice({ ...context, now: openedAt });
  expect(subject).toBe("[dropgate Hamburg] test of alerts");
  expect(text).toMatch(/Nothing is wrong\.\n\n.*on dg1, 2026-11-05 08:00 \(Europe\/Berlin\)\.$/);
});
