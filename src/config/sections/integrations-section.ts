import { choice, integer, list, map, optional, path, section, size, text } from "../reader/setting.ts";

const companyCode = text({
  maxLength: 20,
  pattern: "^[A-Za-z0-9_-]+$",
  form: "letters, digits, _ and -",
  example: "ACME",
  description: "A company's code.",
});

const integration = section(
  {
    file: path({
      description: "The JSONata expression, in UTF-8. A reload reads it anew.",
      example: "/etc/dropgate/erp-orders.jsonata",
    }),
    input: choice(["json", "xml"], {
      default: "json",
      description:
        "What the bodies are. XML is read into a form of JSON first, which docs/integrations.md describes.",
      example: "xml",
    }),
    timeoutMs: integer({
      default: 10_000,
      range: [100, 60_000],
      description: "How long the mapping of one body may take; over it the import is refused (909).",
    }),
    maxOutputBytes: size({
      default: 20_000_000,
      range: [1_000, 100_000_000],
      description: "Size of the document that the expression makes; over it the import is refused (909).",
    }),
    companies: optional(list)(companyCode, {
      maxItems: 1_000,
      example: ["ACME"],
      description: "The companies that may use it; to others it is unknown (908). Without it, all may.",
    }),
  },
  { description: "One custom integration." },
);

export const integrationsSection = map(integration, {
  keyName: "<NAME>",
  keyPattern: "^(?![Dd][Ee][Ff][Aa][Uu][Ll][Tt]$)[A-Za-z0-9_-]{1,40}$",
  keyForm: "1 to 40 letters, digits, _ and -, and not `default`",
  example: "erp",
  description:
    "Custom integrations by the `serviceName` of the imports that go through them: a JSONata expression makes the standard document of the body. See docs/integrations.md.",
});
