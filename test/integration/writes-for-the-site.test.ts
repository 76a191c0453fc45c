/**
 * A unit of work says whose rows it writes (`src/store/database/owner.ts`). Those of one company say so by its id, those of
 * none are `unowned`, and both hold while tests run (`src/store/database/groups/unit-checks.ts`). What is written for the site, and
 * so keeps all others waiting on a database of several nodes, is listed here with what is unowned.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow } from "../support/files-below.ts";

/** Files with such units, and why they are of no company or of several. */
const forTheSite: Readonly<Record<string, string>> = {
  "app/admin/admin-store.ts":
    "commands on exports, files, deliveries and remotes by their numbers, of any company",
  "app/admin/release-admin.ts": "the hold of all deliveries",
  "app/admin/resend-admin.ts":
    "deliveries of any company, and how far a resend of all that a filter selects is",
  "app/alerts/alert-watch.ts": "incidents of all companies and of the installation, and what is told of them",
  "app/daemon/audit-reload.ts": "the configuration of the installation",
  "app/daemon/outbound-settings.ts": "the configuration of all companies",
  "app/retention/clock-guard.ts": "the newest time that was seen, for all companies",
  "app/retention/event-pruner.ts": "the newest events that were removed, of all companies",
  "app/retention/large-group-pruner.ts": "the newest events that were removed, of all companies",
  "app/watch/backup-run.ts": "how the backup of the whole state gets on",
  "app/watch/file-rates.ts": "figures of the files of all companies",
  "backup/take-backup.ts": "the last backup of the whole state",
  "inbound/places/filing-queue.ts": "an empty unit, with which others are committed",
  "operations/users/company-admin.ts": "companies themselves",
  "operations/users/own-password.ts": "the password of a user, who may belong to several companies",
  "operations/users/user-admin.ts": "users, who may belong to several companies",
  "outbound/delivery-queue.ts": "the counts of all targets, at the start",
  "sign-in/console-sessions.ts": "sessions of users, who may belong to several companies",
  "sign-in/failures/shared-failures.ts": "failed sign-ins and bans, which are of no company",
  "sign-in/familiar-addresses.ts": "addresses of users",
  "store/database/generation.ts": "what the store notes of itself",
  "store/database/last-verification.ts": "what a verification of the whole ledger has found",
  "store/database/meta.ts": "what the daemon notes of itself",
  "store/ledger/last-applied.ts": "times of the last files of all companies",
};

it("only what is of no company, or of several, is written for the site", () => {
  const writing = [...filesBelow(join(import.meta.dirname, "../../src"))]
    .filter(([file]) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !file.includes("/testing/"))
    .filter(([, bytes]) => /write(Soon)?(<[^>]*>)?\(\s*"(site|unowned)"/.test(bytes.toString()))
    .map(([file]) => file);
  expect(writing.sort()).toEqual(Object.keys(forTheSite));
});
