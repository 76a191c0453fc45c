/** How long things are kept: for all companies, and what differs for one. */
import type { RetentionKind } from "../../domain/retention/retention.ts";
import { age, optional, path, section } from "../reader/setting.ts";

const kinds: Readonly<Record<RetentionKind, { readonly what: string; readonly days: number | "keep" }>> = {
  archive: { what: "files in archive/, from their decision", days: "keep" },
  error: { what: "refused files in error/ with the receipts beside them, from their decision", days: "keep" },
  receipts: { what: "receipts in receipts/, from the decision that they tell", days: "keep" },
  ledger: {
    what: "entries of the ledger, from their decision; as long is a file that comes again known as a duplicate",
    days: "keep",
  },
  outbound: {
    what: "completions and exports after their delivery; so long can they be delivered again",
    days: 90,
  },
  messages: { what: "messages to customers after they were sent or dropped", days: 90 },
  events: { what: "recorded events of a stop or load that is over, from its newest event", days: "keep" },
  positions: { what: "positions of loads that are over", days: 90 },
  documents: { what: "documents that were captured or imported", days: "keep" },
  imports: { what: "outcomes of load imports", days: 90 },
  appointments: { what: "appointments that were given back or ran out", days: 90 },
  audit: {
    what: "what was asked for again, retried or given up, or done in the console, and by whom",
    days: "keep",
  },
};

function site(kind: RetentionKind) {
  const { what, days } = kinds[kind];
  return age(`Days for which dropgate keeps ${what}; keep: for ever.`, { default: days });
}

function own(kind: RetentionKind) {
  const { days } = kinds[kind];
  return optional(age)(`retention.${kind} for this company.`, { example: days === "keep" ? 365 : days });
}

export const retentionSection = section(
  "How long things are kept. What is older is removed once an hour, and `dropgate prune --dry-run` tells what would go; while the clock of the machine is not to be trusted, nothing is.",
  {
    archive: site("archive"),
    error: site("error"),
    receipts: site("receipts"),
    ledger: site("ledger"),
    outbound: site("outbound"),
    messages: site("messages"),
    events: site("events"),
    positions: site("positions"),
    documents: site("documents"),
    imports: site("imports"),
    appointments: site("appointments"),
    audit: site("audit"),
    moveTo: optional(path)(
      "Folder to which files of archive/, error/ and receipts/ are moved instead of being removed, as COMPANY/KIND/DATE/NAME; also on another disk. Nothing there is ever overwritten.",
      { example: "/srv/old/dropgate" },
    ),
  },
);

export const companyRetentionSection = section("What differs for this company from the section retention.", {
  archive: own("archive"),
  error: own("error"),
  receipts: own("receipts"),
  ledger: own("ledger"),
  outbound: own("outbound"),
  messages: own("messages"),
  events: own("events"),
  positions: own("positions"),
  documents: own("documents"),
  imports: own("imports"),
  appointments: own("appointments"),
  audit: own("audit"),
});
