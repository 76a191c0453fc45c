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
  hint: "A name of a file or its beginning, a stop, load, order or shipment, the number of a delivery or of a receipt, eight digits of a SHA-256, or a day such as 2026-11-05.",
  found: (text: string) => `Find: ${text}`,
  cut: "More begin like this than are shown: put in more of it, or filter the list of files.",
  filterFiles: "Files that begin so",
  searchedTo: (time: string) =>
    `For this SHA-256, files were looked through back to ${time}; older ones were not.`,
  nothing: "Nothing is known of",
  elsewhere: "Where it could be",
  ways: "What you can do",
  steps: [
    "Compare it letter by letter with what the sender has: a stop has another number on its papers now and then.",
    "If a client says that it sent it: its upload was never closed, or went to another server. Have it sent again.",
    "What belongs to a company that you may not see is not found here.",
  ],
  requestId:
    "If this is an X-Request-Id: the log has a line of each request with it, by which an operator finds user, operation and answer.",
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
