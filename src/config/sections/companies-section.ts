import { Type } from "@sinclair/typebox";
import { appointmentsSection } from "./appointments-section.ts";
import { lateFileRules, nameRules } from "./inbound-section.ts";
import { messagesSection } from "./messages-section.ts";
import { remotesSection } from "./remotes-section.ts";
import { outboundSection } from "./outbound-section.ts";
import { choice, list, map, optional, path, section, text } from "../reader/setting.ts";

const folder = section(
  {
    path: path({
      description: "The folder; `dropgate check` reports whether it can be used.",
      example: "/srv/acme/orders",
    }),
    label: optional(text)({
      maxLength: 40,
      pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]*$",
      form: "letters, digits, spaces and . _ -, starting with a letter or digit",
      example: "warehouse",
      description: "Name of the folder in the ledger and the log; without it, its path is shown.",
    }),
  },
  { description: "A further drop folder." },
);

const overrides = section(
  {
    names: optional(choice)(nameRules, {
      description: "inbound.names for this company.",
      example: "lenient",
    }),
    lateFiles: optional(choice)(lateFileRules, {
      description: "inbound.lateFiles for this company.",
      example: "refuse",
    }),
  },
  { description: "What differs for this company from the section inbound." },
);

const company = section(
  {
    folders: list(folder, {
      default: [],
      maxItems: 100,
      description:
        "Folders besides the company's own inbound/ whose files are taken in: a share, a path that another server writes to.",
    }),
    remotes: remotesSection,
    inbound: overrides,
    outbound: outboundSection,
    appointments: Type.Optional(appointmentsSection),
    messages: Type.Optional(messagesSection),
  },
  { description: "One company." },
);

export const companiesSection = map(company, {
  keyName: "<CODE>",
  keyPattern: "^[A-Za-z0-9_-]{1,20}$",
  keyForm: "1 to 20 letters, digits, _ and -",
  example: "ACME",
  description:
    "Settings by company code. Companies themselves are made with `dropgate company add`; one that needs nothing special need not stand here.",
});
