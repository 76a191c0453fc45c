/** Words of the page that finds. */
import type { NumberKind } from "../pages/find/find-view.ts";

const by: Readonly<Record<NumberKind, string>> = {
  number: "its number",
  shipment: "its shipment",
  bill: "its bill of lading",
  seal: "its seal",
  reference: "a reference",
};

export const findWords = {
  title: "Find",
  label: "What do you look for?",
  hint: "A name of a file or its beginning, a stop, load, order or shipment, the number of a delivery or of a receipt, eight digits of a SHA-256, a day such as 2026-11-05, or the name of a user, company, remote or target.",
  typed: {
    title: "What can be typed",
    head: ["What is looked for", "Such as"],
    kinds: [
      ["A file, its receipt or manifest, or how its name begins", "4711_20261105_080000.xml"],
      ["A stop, load or order; a shipment, bill of lading, seal or reference", "4711"],
      ["Ledger of a receipt, the GUID of a delivery or of a document", "0b1c2d3e-…"],
      ["The content of a file or document: eight digits of its SHA-256 or more", "9f86d081"],
      ["All files of a day (UTC)", "2026-11-05"],
      ["A request over HTTP by its X-Request-Id", "V1StGXR8_Z5j"],
      ["A user, company, remote or target, or how its name begins", "carrier"],
    ] as readonly (readonly [what: string, example: string])[],
  },
  named: {
    users: "Users",
    places: "Companies, remotes and targets",
    kinds: {
      company: "a company: its files",
      remote: "a remote: how it stands, and what lies there",
      target: "a target: its deliveries",
    },
  },
  found: (text: string) => `Find: ${text}`,
  cut: "More begin like this than are shown: put in more of it, or filter the list of files.",
  filterFiles: "Files that begin so",
  searchedTo: (time: string) =>
    `For this SHA-256, files were looked through back to ${time}; "Look further back" goes on from there.`,
  nothing: "Nothing is known of",
  elsewhere: "Where it could be",
  ways: "What you can do",
  steps: [
    "Compare it letter by letter with what the sender has: a stop has another number on its papers now and then.",
    "If a client says that it sent it: its upload was never closed, or went to another server. Have it sent again.",
    "What belongs to a company that you may not see is not found here.",
  ],
  request: {
    title: "A request over HTTP",
    id: "X-Request-Id",
    at: "Answered",
    operation: "Operation",
    none: "no operation has that path and method",
    user: "User",
    stranger: "nobody had signed in",
    company: "Company",
    status: "Answer",
    gone: "nobody was there any more to be answered",
    took: "Took",
    filesOf: "Files of this user on this day",
    means: (status: number) => {
      if (status === 0)
        return "The client went away before the answer: have it wait longer, and send again what it does not know of.";
      if (status === 429)
        return "It came too often, or its address is banned: Retry-After of the answer says for how long to wait.";
      if (status === 503)
        return "There was no room for it at that moment: the client sends it again after Retry-After.";
      if (status >= 500)
        return "A fault of this installation: the log has a line with this id that says more.";
      if (status === 401)
        return "User and password were not accepted: page Users shows whether the user is disabled.";
      if (status === 403) return "The user has no role for it in that company: page Users shows the roles.";
      if (status >= 400)
        return "It was refused: the reasons stand in the body of the answer, which the host has.";
      return "It was answered as it should be.";
    },
  },
  requestUnknown:
    "If this is an X-Request-Id: it is none of the last 10,000 requests since the start of the program, or one of a company that " +
    "you may not see. The log has a line of each request for as long as it is kept:",
  requestCommand: (id: string) => `journalctl -u dropgate | grep -F -e ${id}`,
  byNumber: (kind: NumberKind) => `found by ${by[kind]}`,
  files: "Files",
  stops: "Stops",
  loads: "Loads",
  orders: "Orders",
  deliveries: "Deliveries",
  documents: "Documents",
  received: "received",
  notReceived: "not received yet",
  onLoad: (loadNbr: string) => `on load ${loadNbr}`,
  cancelled: "cancelled",
  noStop: "no stop has this number: it is not planned yet",
  columns: {
    name: "Name",
    number: "Number",
    company: "Company",
    state: "State",
    received: "Received",
    changed: "Changed",
    made: "Made",
    meaning: "What that means",
    target: "To",
  },
};
