import { Type } from "@sinclair/typebox";
import { companyAlertsSection } from "./alerts-section.ts";
import { appointmentsSection } from "./appointments-section.ts";
import { expectedArrivalsSection } from "./expected-arrivals-section.ts";
import { lateFileRules, nameRules } from "./inbound-section.ts";
import { messagesSection } from "./messages-section.ts";
import { remotesSection } from "./remotes-section.ts";
import { companyRetentionSection } from "./retention-section.ts";
import { outboundSection } from "./outbound-section.ts";
import { choice, list, map, optional, path, section, text } from "../reader/setting.ts";

const folder = section("A further drop folder.", {
  path: path("The folder; `dropgate check` reports whether it can be used.", { example: "/srv/acme/orders" }),
  label: optional(text)("Name of the folder in the ledger and the log; without it, its path is shown.", {
    maxLength: 40,
    pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]*$",
    form: "letters, digits, spaces and . _ -, starting with a letter or digit",
    example: "warehouse",
  }),
});

const overrides = section("What differs for this company from the section inbound.", {
  names: optional(choice)("inbound.names for this company.", nameRules, { example: "lenient" }),
  lateFiles: optional(choice)("inbound.lateFiles for this company.", lateFileRules, { example: "refuse" }),
});

const company = section("One company.", {
  folders: list(
    "Folders besides the company's own inbound/ whose files are taken in: a share, a path that another server writes to.",
    folder,
    { default: [], maxItems: 100 },
  ),
  remotes: remotesSection,
  inbound: overrides,
  expectedArrivals: expectedArrivalsSection,
  outbound: outboundSection,
  retention: companyRetentionSection,
  appointments: Type.Optional(appointmentsSection),
  messages: Type.Optional(messagesSection),
  alerts: Type.Optional(companyAlertsSection),
});

export const companiesSection = map(
  "Settings by company code. Companies themselves are made with `dropgate company add`; one that needs nothing special need not stand here.",
  company,
  {
    keyName: "<CODE>",
    keyPattern: "^[A-Za-z0-9_-]{1,20}$",
    keyForm: "1 to 20 letters, digits, _ and -",
    example: "ACME",
  },
);
