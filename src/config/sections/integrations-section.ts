import { choice, integer, list, map, optional, path, section, size, text } from "../reader/setting.ts";

const companyCode = text("A company's code.", {
  maxLength: 20,
  pattern: "^[A-Za-z0-9_-]+$",
  form: "letters, digits, _ and -",
  example: "ACME",
});

const integration = section("One custom integration.", {
  file: path("The JSONata expression, in UTF-8. A reload reads it anew.", {
    example: "/etc/dropgate/erp-orders.jsonata",
  }),
  input: choice(
    "What the bodies are. XML is read into a form of JSON first, which docs/integrations.md describes.",
    ["json", "xml"],
    { default: "json", example: "xml" },
  ),
  timeoutMs: integer("How long the mapping of one body may take; over it the import is refused (909).", {
    default: 10_000,
    range: [100, 60_000],
  }),
  maxOutputBytes: size(
    "Size of the document that the expression makes; over it the import is refused (909).",
    { default: 20_000_000, range: [1_000, 100_000_000] },
  ),
  companies: optional(list)(
    "The companies that may use it; to others it is unknown (908). Without it, all may.",
    companyCode,
    { maxItems: 1_000, example: ["ACME"] },
  ),
});

export const integrationsSection = map(
  "Custom integrations by the `serviceName` of the imports that go through them: a JSONata expression makes the standard document of the body. See docs/integrations.md.",
  integration,
  {
    keyName: "<NAME>",
    keyPattern: "^(?![Dd][Ee][Ff][Aa][Uu][Ll][Tt]$)[A-Za-z0-9_-]{1,40}$",
    keyForm: "1 to 40 letters, digits, _ and -, and not `default`",
    example: "erp",
  },
);
