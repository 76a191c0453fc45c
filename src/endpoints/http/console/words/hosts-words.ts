/** Words of the page for host developers. */
import { counted } from "../../../../lib/counted.ts";

export const hostsWords = {
  title: "For host developers",
  intro:
    "Try a document before you send it, see what became of what you have sent, and copy a sample with your own address.",
  company: "Company",
  tryTitle: "Try a document",
  tryIntro:
    "It is decided about by the rules that hold for sent files, against the stops as they are now. Nothing is stored and nothing is sent.",
  text: "XML of a stop document, or JSON of an import",
  textHint: "Put the text in, or choose a file: XML up to about 1 MiB, JSON up to 256 KiB.",
  importTooLarge: (size: string, kilobytes: number) =>
    `This JSON has ${size}, and up to ${kilobytes} KiB are tried here: try some of its entries, those that were refused ` +
    "for instance. As an import it may be as large as http.maxBodyBytes allows.",
  service: "Custom integration",
  serviceHint: "It makes an import of the text first, as it does of what hosts send under its name.",
  noService: "None",
  as: "Import",
  asItIs: "By the list that the document has",
  importKinds: {
    loads: "Loads",
    stops: "Stops",
    asn: "Advance shipment notices",
    orders: "Orders",
  },
  mapped: "What the integration made of it",
  file: "Take the text from a file",
  name: "Name of the file",
  nameHint: "Of XML; it is checked too. Leave it empty to try the document alone.",
  tryIt: "Try it",
  result: "What would become of it",
  textMissing: "Put in the text of a document, or choose a file.",
  nothingStored: "This was a trial: nothing was stored.",
  states: {
    applied: "It would be applied.",
    accepted: "It would be accepted.",
    refused: "It would be refused.",
    duplicate: "It would be answered as a duplicate, and nothing would be applied.",
    superseded: "It would be refused as superseded: a newer file of its stop has been applied.",
  },
  inBackground:
    "Loads are applied in the background, one by one: below is what would come of each at this moment.",
  untried: (count: number) =>
    `${counted(count, "further load is", "further loads are")} not told of here: try them by themselves.`,
  entities: "Its loads or orders",
  entity: { load: "Load", order: "Order" },
  entityHead: "Load or order",
  fieldsOfEntity: (kind: string, number: string) =>
    `Fields of ${kind.toLowerCase()} ${number} that would change`,
  noEntities: "It has none.",
  kinds: {
    loads: "Import of loads.",
    stops: "Import of stops.",
    asn: "Import of advance shipment notices.",
    orders: "Import of orders.",
  },
  firstOf: (state: string) => `A file of that name and content has come before: ${state}`,
  underNewTime: {
    applied: "Under a new time it would be applied:",
    refused: "Under a new time it would be refused:",
    duplicate: "Under a new time it would be a duplicate:",
    superseded: "Under a new time it would be superseded:",
  },
  faults: "Why",
  reason: "Reason",
  place: "Where",
  message: "What is wrong",
  line: (line: number) => `line ${line}`,
  noFaults: "Nothing is wrong with it.",
  changes: "What it would change",
  stop: "Stop",
  effect: "Effect",
  effects: {
    created: "created",
    updated: "updated",
    deleted: "deleted",
    none: "unchanged",
    refused: "refused when it is applied",
  },
  stateBefore: "State now",
  stateAfter: "State then",
  noChanges: "It would change no stop.",
  fieldsOf: (stopNbr: string) => `Fields of stop ${stopNbr} that would change`,
  field: "Field",
  before: "Stored",
  after: "Sent",
  sameFields: "No field would change.",
  receipts: "Last receipts",
  receiptsOf: "Whose files",
  ofUser: (userName: string) => `Those that ${userName} has sent`,
  ofCompany: "All of the company",
  receiptsCaption: "50 files that were decided about, the newest first",
  searchedTo: (day: string) => `Looked for as far back as ${day}; the next page goes on from there.`,
  noReceipts:
    "None of the last files was yours. Look at all of the company, or send one as the samples show.",
  noCompanyReceipts: "No file of this company has been decided about yet. Send one as the samples show.",
  fileName: "File",
  state: "State",
  received: "Received",
  why: "Why, and what to do",
  fileStates: {
    applied: "applied",
    refused: "refused",
    duplicate: "duplicate",
    superseded: "superseded",
  },
  samples: "Samples",
  samplesIntro: (userName: string, companyCode: string) =>
    `For the user ${userName} and the company ${companyCode}. Each asks for the password.`,
  sampleDocument: "A stop document",
  sampleDocumentIntro: (name: string) => `Keep it as ${name}: stop number, date and time make the name.`,
  overSftp: "Over SFTP",
  overFtp: "Over FTP with TLS",
  overPlainFtp: "Over FTP, in clear text",
  receiptOverSftp: "Its receipt, a moment later",
  overHttp: "A stop document over HTTP",
  importOverHttp: "An import of stops as JSON",
  noServerName: "Put the name of this server in the place of SERVER.",
  apiPage: "All operations of the interface",
  noFileServers: "Neither SFTP nor FTP is switched on here.",
};

/** What is said instead of a result. */
export const trialWords = {
  noCompany: "there is no such company, or you have nothing to do with its hosts",
  tooLarge: (kilobytes: number) =>
    `JSON of more than ${kilobytes} KiB is not tried here: try a part of it, or send it as an import`,
  noImport:
    "JSON of an import is an object with a list: loads, stops or orders. Put in the whole body of the request.",
  noService: (name: string) => `the company has no integration ${name}: choose one of the list`,
  otherForm: (name: string, form: string) =>
    `the integration ${name} takes ${form.toUpperCase()}: put in the body of a request as hosts send it`,
};
