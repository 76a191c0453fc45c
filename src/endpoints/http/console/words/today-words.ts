/** Words of page 1: how companies stand at this moment. */
import { counted } from "../../../../lib/counted.ts";

export const todayWords = {
  title: "Today",
  companies: "Companies",
  company: "Company",
  waiting: "Waiting",
  oldest: (age: string) => `oldest ${age}`,
  applied: "Applied today",
  refused: "Refused today",
  weekBefore: "a week ago, the whole day",
  byNow: (count: string) => `about ${count} by this time a week ago`,
  usual: {
    same: "as usual",
    none: "none yet",
    noneBefore: "none then",
    more: (percent: number) => `${percent} % more than usual`,
    fewer: (percent: number) => `${percent} % fewer than usual`,
    times: (factor: number) => `${factor} times as many as usual`,
  },
  late: "Late",
  incidents: "Incidents",
  deadLetters: "Given up",
  uncollected: "Not fetched",
  notWatched: "not watched",
  state: "State",
  well: "well",
  needsLook: "needs a look",
  daysAreUtc:
    "Today is the day of UTC. Usual: what had come by this time of the same weekday a week ago. Late: expected arrivals whose time is over. Given up: deliveries that were not taken. " +
    "Not fetched: files in outbound/ that lie longer than they may.",
  noCompanies: "You have no company here. Somebody who administers one can give you a role in it.",
  allIsWell: (companies: number) =>
    companies === 1
      ? "All is well: no file is stuck, nothing is late, and everything goes out."
      : `All is well in ${companies} companies: no file is stuck, nothing is late, and everything goes out.`,
  needLook: (count: number) => `${counted(count, "thing needs a look", "things need a look")}:`,
  isHalted: (company: string, why: string) => `${company}: nothing is decided at this moment: ${why}`,
  isOld: (company: string, age: string) => `${company}: a file has waited for ${age}`,
  isLate: (company: string, name: string) => `${company}: what is expected as “${name}” has not come in time`,
  hasDead: (company: string, count: number) =>
    `${company}: ${counted(count, "delivery was given up", "deliveries were given up")}`,
  fails: {
    target: (company: string, name: string, failures: number) =>
      `${company}: nothing goes out to ${name}: it has failed ${failures} times in a row`,
    remote: (company: string, name: string, failures: number) =>
      `${company}: nothing is fetched from ${name}: it has failed ${failures} times in a row`,
  },
  hasUncollected: (company: string, count: number) =>
    `${company}: ${counted(count, "file lies", "files lie")} in outbound/, and nobody fetches them`,
  hasIncidents: (company: string, count: number) => `${company}: ${counted(count, "open incident")}`,
  machineHasIncidents: (count: number) => `this machine: ${counted(count, "open incident")}`,
  lacksRoom: "this machine: the disk has less room than it must keep, and uploads are refused",
  fills: (folder: string, inDays: number) =>
    inDays === 0
      ? `this machine: the disk of ${folder} is full within a day at the rate of the last days`
      : `this machine: the disk of ${folder} is full in about ${counted(inDays, "day")} at the rate of the last days`,
  diskFull: "Disk full",
  fillsUnmeasured: "Measured some minutes after the start, and then four times a day.",
  fillsUnknown: "cannot be told yet",
  expires: (endpoint: string, inDays: number) =>
    `this machine: the certificate of ${endpoint} expires in ${counted(inDays, "day")}`,
  expired: (endpoint: string) => `this machine: the certificate of ${endpoint} has expired`,
  lateArrivals: {
    title: "Late expected arrivals",
    explained:
      "Files that a company expects and that were not there in time, as they were counted within the last minute. Files that wait " +
      "and applied ones count, refused ones do not.",
    none: "Nothing is late: all files that are expected have come in time.",
    head: {
      name: "Expected as",
      company: "Company",
      counted: "Files that count",
      since: "Counted since",
      due: "Due",
      come: "Have come",
    },
    come: (arrived: string, atLeast: string) => `${arrived} of ${atLeast}`,
    came: "what came since, refused files too",
    named: (name: string) => `named ${name}`,
    from: (user: string) => `from ${user}`,
    any: "any file",
  },
  openIncidents: "Open incidents",
  noIncidents: "There is no open incident.",
  notLookedFor:
    "Incidents are not looked for, because nobody is to be told of them: `alerts` in the configuration says who is. What " +
    "needs a look at this moment stands above all the same.",
  incidentHead: { company: "Company", what: "What", since: "Since", whatToDo: "What to do" },
  toIncident: "See it here",
  machine: "This machine",
  disk: "Free room on the disk",
  diskKeeps: (bytes: string) => `${bytes} must stay free`,
  diskUnknown: "The disk does not say how much is free.",
  certificate: (endpoint: string) => `Certificate of ${endpoint}, valid until`,
  certificates: "Certificates",
  noCertificate: "nothing listens with TLS here",
  toHealth: "More on page Health",
  refusals: "Refused lately",
  refusalHead: { time: "Decided", company: "Company", file: "File", reason: "Reason" },
  refusedMany: (count: string) => `${count} files`,
  refusedMore: (count: string) => `More than ${count} files`,
  newestSays: "The newest:",
  retryThese: "Try all of them again …",
  noRefusals: "Nothing was refused within the last seven days.",
  allRefusals: "All refused files",
  live: {
    on: "Live",
    polling: "New every 10 seconds",
    off: "Not live: load the page again",
    full: "too many watch live at this moment",
  },
  rates: {
    title: "Files and their receipts",
    spans: { "4h": "4 hours", "24h": "24 hours", "14d": "14 days" },
    spanOf: "Time that is shown",
    perMinute: "Files a minute",
    toReceipt: "From close to receipt",
    applied: "Applied",
    refused: "Refused",
    others: "Superseded and duplicates",
    median: "Median",
    p99: "99th percentile",
    asTable: "The same as a table",
    from: "From",
    none: "No file came within this time.",
    summary: (median: string, p99: string) =>
      `Half of the receipts were there after ${median}, 99 of 100 after ${p99}.`,
  },
};
