/** Words of the page of health. */
import type { RetentionKind } from "../../../../domain/retention/retention.ts";
import { counted } from "../../../../lib/counted.ts";

export const healthWords = {
  title: "Health",
  ready: "Ready: files are taken, decided and sent on.",
  notReady: "Not ready:",
  check: {
    title: "Check of the installation",
    explained:
      "The same as `dropgate check`: the configuration against the real world, in a process of its own. It changes nothing.",
    now: "Check now",
    running: "It is being checked. This page shows what came of it in a moment.",
    runningSince: "since",
    never: "Nothing has been checked since the start of the program.",
    failed: "The last check came to nothing:",
    at: "Checked",
    found: (problems: number, warnings: number) =>
      problems + warnings === 0
        ? "No problem, and nothing to be warned of."
        : `${counted(problems, "problem")} and ${counted(warnings, "warning")}.`,
    fine: (count: number) => `${counted(count, "line")} without anything to do`,
    status: { ok: "fine", warning: "warning", problem: "problem" },
  },
  nodes: {
    title: "Nodes",
    explained:
      "Each answers all users. All other work of a company, such as the order of its files, is done by one of them, which has the company.",
    state: { working: "works", draining: "gives its companies away", silent: "silent", stopped: "stopped" },
    isThis: "this page is from here",
    otherSettings: (names: string) =>
      `Another configuration than here is in force on ${names}: give all nodes the same one, but for where they listen.`,
    none: "none",
    more: (count: number) => `and ${count} more`,
    head: {
      name: "Node",
      state: "State",
      companies: "Companies that it has",
      version: "Version",
      address: "Listens on",
      started: "Runs since",
      seen: "Seen last",
    },
  },
  selfChecks: "Self-checks",
  works: "works",
  fails: "fails",
  program: "Program",
  version: "Version",
  running: "Runs since",
  memory: "Memory",
  configuration: "Configuration read",
  badReload:
    "The last reload was refused: the configuration of before is in force. The errors below say why.",
  threads: "Threads and queues",
  parsers: "Parser threads",
  waiting: "Files that wait to be decided",
  unfiled: "Decided files that wait to be filed away",
  late: "Event loop late, 99 of 100 times at most",
  store: "Database and disk",
  file: "Database",
  wal: "Write-ahead log",
  commits: "Commits since the start",
  damage: "Damaged",
  free: "Free room",
  keeps: (bytes: string) => `${bytes} must stay free`,
  unknown: "the disk does not say",
  growth: {
    title: "Growth, and when the disk is full",
    never:
      "It has not been measured yet: that is done some minutes after each start of the program, and then four times a day.",
    running: "It is being measured.",
    failed: "The last measurement came to nothing:",
    measuredAt: "Measured",
    noDisk:
      "It could not be told: the database cannot be asked, or there is nothing yet that could grow. The check above says more.",
    explained:
      "The forecast goes by what comes less what goes with its age, at the rate of the period that fills the disk sooner.",
    diskOf: "Disk of",
    full: "Full",
    fullOn: (day: string, days: number) =>
      days === 0 ? `today, ${day}` : `on ${day}, in about ${counted(days, "day")}`,
    lasts: "not within ten years",
    room: "Room that may still be used",
    measured: "Measured over",
    lastDays: (days: number) => `the last ${counted(days, "day")}`,
    chart: (folder: string) => `How the disk of ${folder} fills`,
    day: "Day",
    more: "More than today",
    left: "Room left",
    rates: "What fills it",
    what: "What",
    aDay: "More a day",
    /** By the setting that says how long they are kept. */
    kinds: {
      archive: "applied files",
      error: "refused files",
      receipts: "receipts",
      ledger: "entries of files",
      events: "events of stops and loads",
      positions: "positions",
      outbound: "completions and deliveries",
      messages: "messages",
      imports: "imports",
      documents: "documents",
      appointments: "appointments",
      audit: "entries of the audit",
    } satisfies Readonly<Record<RetentionKind, string>>,
    nothingGrows: "No more comes than goes.",
    asTable: "The days as a table",
  },
  certificates: "Certificates",
  validUntil: (endpoint: string) => `${endpoint} valid until`,
  noCertificates: "Nothing listens with TLS here.",
  backup: {
    title: "Backup",
    last: "Last backup begun",
    age: (age: string) => `${age} ago`,
    never: "There is none yet.",
    notScheduled: "None is scheduled: backup.folder in the configuration and docs/backup.md say how.",
    failing: "Fails:",
    runs: "One is being made since",
  },
  verification: {
    title: "Verification of the ledger",
    explained:
      "Proves by hash that each file ever taken is accounted for. It reads all files that are kept, in a process of its own at " +
      "a lower priority, and may take hours.",
    now: "Verify now",
    confirm: "The ledger is verified at once. Files go on meanwhile.",
    running: (entries: number, total: number) => `It is being verified: ${entries} of ${total} entries.`,
    begins: "It is being verified.",
    failed: "The last one from here came to nothing:",
    last: "Last ended",
    never: "It has never been verified.",
    right: "Each file is accounted for.",
    wrong: (count: number) => `${counted(count, "discrepancy", "discrepancies")}:`,
    remedy:
      "`dropgate ledger verify` lists them all; docs/operations.md says what each means and what to do.",
    notProved: "Not proved:",
  },
  troubles: {
    title: "Last warnings and errors of the log",
    explained:
      "Since the start of the program, those with the same words once. The log itself has more of each.",
    none: "There was none since the start of the program.",
    warning: "warning",
    head: { level: "Level", message: "What", count: "Times", last: "Last", about: "About" },
  },
};
