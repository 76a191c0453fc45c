/**
 * The kinds of incidents: one record for each. Its settings in the configuration, its words in mails and lists, and its
 * row in the documentation come from here; what finds incidents of the kind is in `app/alerts/detectors`, under the same
 * name.
 */

/** A number that can be set, with its unit at the end of its name. */
export interface AlertThreshold {
  readonly description: string;
  readonly default: number;
  readonly range: readonly [minimum: number, maximum: number];
}

interface KindWords {
  /** What the setting says, and the documentation: when it opens. */
  readonly description: string;
  /** In subjects of mails, after the name of the company. */
  readonly title: string;
  /** What its causes are called in titles, where they are codes. */
  readonly causes?: Readonly<Record<string, string>>;
  /** What is said when it is over. */
  readonly closed: string;
  /** What the operator can do about it, unless the finding says it better. */
  readonly remedy: string;
  /** Whether quiet hours do not hold it back, unless it is set. */
  readonly isUrgent: boolean;
  /** Whether it is told again each day; without it only when it opens, gets worse and closes. True when left out. */
  readonly isReminded?: boolean;
  /** Whether it tells of what is to come: mails say when it was noticed, and not since when it is so. False when left out. */
  readonly isForecast?: boolean;
  /** Whether mails leave out the end of one that was told as `worse`: a flood is two mails. False when left out. */
  readonly isMailedTwice?: boolean;
  readonly thresholds: Readonly<Record<string, AlertThreshold>>;
}

/** Looked for once, and told the operator alone. */
interface OperatorKind extends KindWords {
  readonly scope: "operator";
}

/** `company`: looked for in each company, whose own audience is told too; `both`: once besides. */
interface CompanyKind extends KindWords {
  readonly scope: "company" | "both";
  /** What the people of the company can do about it, who cannot sign in to the machine: it has no commands. */
  readonly companyRemedy: string;
}

export type AlertKind = OperatorKind | CompanyKind;

function minutes(description: string, standard: number): AlertThreshold {
  return { description, default: standard, range: [1, 10_080] };
}

function count(description: string, standard: number): AlertThreshold {
  return { description, default: standard, range: [1, 1_000_000] };
}

export const alertKinds = {
  refusedFiles: {
    scope: "company",
    description: "So many stop files of a company were refused within the time.",
    title: "files were refused",
    closed: "no more files are refused than may be",
    remedy:
      "`dropgate files --state refused` lists them with their reasons, `dropgate file show ID` shows one; when the host " +
      "has corrected its data it sends the file again, and what was refused by mistake is taken by `dropgate file retry ID`",
    companyRemedy:
      "the receipt of each file, in `receipts/`, names the reasons: correct the data, and send the file again " +
      "with a new time in its name. The operator can have a file tried again that was refused by mistake",
    isUrgent: false,
    isMailedTwice: true,
    thresholds: {
      count: count("So many; with 1 the first one opens the incident.", 1),
      withinMinutes: minutes("The time in which they are counted.", 60),
    },
  },
  filesWaiting: {
    scope: "company",
    description: "A file of a company waits to be decided for longer than this.",
    title: "files wait",
    closed: "the files that waited were decided",
    remedy:
      "`dropgate files --state waiting` lists them, `dropgate explain NAME` says what one waits for, and `/readyz` and " +
      "the log name the fault",
    companyRemedy:
      "complete a file that is cut off at its end, and do not send the others again: they are decided by " +
      "themselves, in their order, as soon as they can be. Ask the operator what holds them back",
    isUrgent: true,
    thresholds: { afterMinutes: minutes("How long a file may wait.", 30) },
  },
  deadLetters: {
    scope: "company",
    description:
      "Deliveries to a target were given up, after 72 hours or because the target refused them for good.",
    title: "deliveries were given up",
    closed: "no delivery to the target is given up any more",
    remedy:
      "`dropgate delivery show ID` shows why; mend the cause, then `dropgate delivery retry ID`, or give them up for good " +
      "by `dropgate delivery give-up`",
    companyRemedy:
      "see why the target has refused them or could not be reached, and mend that when the target is yours; then " +
      "ask the operator to send them again, or to give them up for good",
    isUrgent: false,
    thresholds: { count: count("So many.", 1) },
  },
  pausedTarget: {
    scope: "company",
    description:
      "A target has failed as a whole, or somebody has paused it, and deliveries have waited for it for so long.",
    title: "a target takes nothing",
    closed: "the target takes deliveries again",
    remedy:
      "`dropgate deliveries --state waiting` lists what waits, with the fault; `dropgate check --remote` tries the target. " +
      "Nothing is lost: all goes out by itself when the target takes it",
    companyRemedy:
      "when the target is yours, see whether it runs, and tell the operator when its address, password, key or " +
      "certificate has changed; the operator knows whether somebody has paused it. Nothing is lost: all goes out by " +
      "itself when the target takes it",
    isUrgent: true,
    thresholds: { afterMinutes: minutes("How long the oldest delivery may wait meanwhile.", 30) },
  },
  missingTarget: {
    scope: "company",
    description:
      "Deliveries wait for a target that is not in the configuration any more, or were given up before it was removed.",
    title: "a target is missing",
    closed: "the target is there again, or its deliveries are not wanted any more",
    remedy:
      "put the target back into the configuration and reload; when nobody wants its deliveries any more, `dropgate " +
      "delivery give-up --all --target NAME --reason TEXT --yes` gives them up",
    companyRemedy:
      "tell the operator whether the deliveries to this target are still wanted: the target comes back into the " +
      "configuration, or they are given up",
    isUrgent: false,
    thresholds: {},
  },
  uncollectedFiles: {
    scope: "company",
    description:
      "Files lie in a company's outbound/ longer than outbound.collectWithinHours, where that is set.",
    title: "files were not collected",
    closed: "the files were collected",
    remedy:
      "ask whoever runs the host why it does not fetch them: `dropgate deliveries` shows what was collected, when and by " +
      "whom",
    companyRemedy:
      "see whether the job that fetches them from `outbound/` runs, and whether it can sign in. The operator can " +
      "say what was collected, when and by whom",
    isUrgent: false,
    thresholds: {},
  },
  uploadsRefused: {
    scope: "both",
    description:
      "Files are not taken in: the disk has no room (storage.minFree), or too many files of a company wait " +
      "(inbound.maxWaiting).",
    title: "no files are taken in",
    causes: { noSpace: "the disk is full", tooManyWaiting: "too many wait" },
    closed: "files are taken in again",
    remedy:
      "make room on the disk of the state directory, or lower storage.minFree; when too many files wait, find out why by " +
      "`dropgate files --state waiting`, or raise inbound.maxWaiting",
    companyRemedy:
      "send again what was refused, as soon as files are taken in again; what was taken in is kept, and need not " +
      "be sent again. Ask the operator what it waits for",
    isUrgent: true,
    thresholds: {},
  },
  diskSpace: {
    scope: "operator",
    description:
      "Less is free on the disk of the state directory than both, of which the smaller counts; or less than " +
      "storage.minFree.",
    title: "the disk is getting full",
    closed: "there is room on the disk again",
    remedy:
      "make room on the disk of the state directory, or give it more; uploads are refused when less is free than " +
      "storage.minFree",
    isUrgent: true,
    thresholds: {
      belowPercent: { description: "Part of the file system.", default: 10, range: [0, 90] },
      belowMegabytes: { description: "Amount.", default: 10_000, range: [0, 100_000_000] },
    },
  },
  ledgerDiscrepancy: {
    scope: "operator",
    description: "The last verification of the ledger has found that ledger and files disagree.",
    title: "ledger and files disagree",
    closed: "ledger and files agree again",
    remedy:
      "`dropgate ledger verify` names each entry and file; docs/operations.md says what to do. The alert ends with the " +
      "next verification that finds nothing",
    isUrgent: false,
    thresholds: {},
  },
  lateArrivals: {
    scope: "company",
    description:
      "Files that a company expects (expectedArrivals) are not there at their deadline (docs/expected-arrivals.md).",
    title: "expected files have not come",
    closed: "the expected files are there, or another day has begun",
    remedy: "`dropgate arrivals` shows what is late; ask the host whether its export has run",
    companyRemedy:
      "see whether the export has run, and whether it could sign in and send its files; of a file that was " +
      "refused, the receipt in `receipts/` names the reasons",
    isUrgent: true,
    thresholds: {},
  },
  failingRemote: {
    scope: "company",
    description:
      "A server that files are fetched from has failed so often in a row, or somebody has paused it for a day.",
    title: "nothing is fetched from a remote",
    closed: "the remote is fetched from again",
    remedy: "`dropgate remote list` shows the fault; `dropgate remote retry NAME` fetches at once",
    companyRemedy:
      "when the server is yours, see whether it runs and lets the files be listed and fetched, and tell the " +
      "operator when its address, password, key or certificate has changed; the operator knows whether somebody has " +
      "paused it. What lies there is fetched when it goes on",
    isUrgent: false,
    thresholds: {
      failures: count("How often in a row.", 5),
    },
  },
  certificateExpiry: {
    scope: "operator",
    description:
      "The certificate of HTTPS or FTPS, or one that a target, a remote or alerts use, expires soon; told again 7 days and " +
      "a day before, and when it has expired.",
    title: "a certificate expires or has expired",
    causes: { http: "HTTPS", ftp: "FTPS" },
    closed: "the certificate is valid for long enough",
    remedy:
      "renew it, then `systemctl reload dropgate`, and the log says `configuration reloaded`; `dropgate check` shows " +
      "which files are in use",
    isUrgent: false,
    isReminded: false,
    isForecast: true,
    thresholds: { beforeDays: { description: "How many days before.", default: 30, range: [1, 365] } },
  },
  backupOverdue: {
    scope: "operator",
    description:
      "The scheduled backup fails or makes no progress, or the last backup is older than backup.warnAfterHours, where " +
      "there is one or backup.folder is set.",
    title: "backups are not made",
    closed: "a backup was made",
    remedy:
      "make one with `dropgate backup`, which says what is wrong; `dropgate check` says whether the folder can be written",
    isUrgent: false,
    thresholds: {},
  },
  retentionFails: {
    scope: "operator",
    description: "What is too old (retention) cannot be removed for so long, and the disk fills up.",
    title: "what is too old is not removed",
    closed: "what is too old is removed again",
    remedy:
      "the alert and the log name the kind, the company and the fault: mend it; the daemon tries again each quarter of an " +
      "hour, and `dropgate prune` at once",
    isUrgent: false,
    thresholds: { afterMinutes: minutes("How long it has failed.", 60) },
  },
  clockJump: {
    scope: "operator",
    description:
      "The clock has jumped ahead by more than a day, or is behind the newest time written in the state.",
    title: "the clock is wrong",
    closed: "the clock fits the state again",
    remedy:
      "`timedatectl` shows whether the clock is right: set it; if it is right, `dropgate prune --clock-is-right` says so",
    isUrgent: true,
    thresholds: { behindMinutes: minutes("How far behind it has to be.", 5) },
  },
  bruteForce: {
    scope: "operator",
    description: "So many sign-ins were refused within the time, or so many addresses are banned at once.",
    title: "somebody guesses passwords",
    closed: "sign-ins are refused no more often than usual",
    remedy:
      "the log names the addresses (`journalctl -u dropgate | grep 'sign-in refused'`): close them off at the firewall, " +
      "or tell the host whose password is out of date; docs/operations.md says how bans end",
    isUrgent: false,
    thresholds: {
      failures: count("So many refused sign-ins.", 200),
      bans: count("So many banned addresses.", 10),
      withinMinutes: minutes("The time in which refused sign-ins are counted.", 15),
    },
  },
} as const satisfies Readonly<Record<string, AlertKind>>;

export type AlertKindName = keyof typeof alertKinds;

/** All kinds, in the order in which they are listed. */
export const alertKindNames = Object.keys(alertKinds) as readonly AlertKindName[];

/** The record of a kind, without what is special about it. */
export function alertKind(name: AlertKindName): AlertKind {
  return alertKinds[name];
}

/** The kind of a stored incident; undefined for one of another version. */
export function alertKindNamed(name: string): AlertKindName | undefined {
  return alertKindNames.find((known) => known === name);
}

/** What can be set for a kind, with the defaults filled in. */
export type AlertKindSettings<Name extends AlertKindName = AlertKindName> = {
  readonly enabled: boolean;
  readonly urgent: boolean;
} & { readonly [Threshold in keyof (typeof alertKinds)[Name]["thresholds"]]: number };

export type AllAlertKindSettings = { readonly [Name in AlertKindName]: AlertKindSettings<Name> };
