/** Writes `docs/configuration.md`: a hand-written introduction and one table a section, from the schema. */
import { configSchema } from "../../src/config/schema.ts";
import { childrenOf, type ListedSetting, settingsBelow } from "../../src/config/reader/setting-list.ts";
import { hasValue, isSection, limitsOf, shownValue, typeOf, wrapped } from "./setting-text.ts";

const introduction = `# Configuration

<!-- Generated from src/config; change the schema there, then run the tests with UPDATE_GENERATED=1. -->

dropgate reads one YAML file: the first one that it finds in this order:

1. the file that \`--config\` names;
2. the file that the environment variable \`DROPGATE_CONFIG\` names;
3. \`./config/dropgate.yaml\`, from the working directory;
4. \`/etc/dropgate/dropgate.yaml\`.

Every setting has a default, so an empty file is a complete configuration that listens on loopback only.
[\`config/dropgate.example.yaml\`](../config/dropgate.example.yaml) shows all of them; \`config/dropgate.schema.json\`
lets editors complete and check them. Unknown names and wrong values are never passed over: \`dropgate check\` and the
start list all of them with line, column and remedy, and nothing starts.

- **Paths** are absolute or relative to the folder of the configuration file. \`~\` is not expanded.
- **Sizes** are whole numbers of bytes or text with a unit: \`kB\`, \`MB\`, \`GB\`, \`TB\` count in 1000s, \`KiB\`, \`MiB\`,
  \`GiB\`, \`TiB\` in 1024s.
- **Times** are whole milliseconds; their names end in \`Ms\`.
- **YAML** is version 1.2: \`yes\` and \`on\` are text, not \`true\`. Anchors with aliases, tags and several documents in
  one file are refused.
- A section without settings below it is the same as one that is not there.

## Secrets

A secret never stands in the file. It is named, and read at the start and at each reload:

| Written as | Is |
|---|---|
| \`env:NAME\` | the environment variable \`NAME\` |
| \`file:PATH\` | the content of the file, without its last line break; there is a warning when its mode lets others read it |
| \`credential:NAME\` | the systemd credential \`NAME\` (\`LoadCredential=\` in the unit) |

A secret that is written out is refused. Logs, errors and listings show \`[secret]\`. The daemon and \`dropgate check\`
need all secrets. The other commands run in a shell that has neither the variables nor the credentials of the service,
and need none but that of \`store\`, which should be in a file that they can read.

## Reload

\`SIGHUP\` (\`systemctl reload dropgate\`) reads the file again. A faulty file changes nothing and its faults are logged.
Otherwise the settings marked *reload* below take effect at once; changes of those marked *restart* are named in the log
and wait. Certificates are read anew even when no setting has changed.

## Settings
`;

const units: readonly (readonly [ending: string, unit: string])[] = [
  ["Ms", "ms"],
  ["Mb", "MiB"],
  ["Percent", "%"],
  ["percent", "%"],
];

function unitOf({ path, setting }: ListedSetting): string {
  if (setting.dropgate.kind === "size") return "bytes";
  if (setting.dropgate.kind !== "integer") return "";
  return units.find(([ending]) => path.endsWith(ending))?.[1] ?? "";
}

function defaultOf(listed: ListedSetting): string {
  if (listed.setting.default !== undefined) return `\`${shownValue(listed)}\``;
  return listed.isRequired ? "required" : "–";
}

function rowOf(listed: ListedSetting): string {
  const { path, setting } = listed;
  const change = setting.dropgate.needsRestart ? "restart" : "reload";
  const cells = [
    `\`${path}\``,
    typeOf(listed),
    defaultOf(listed),
    unitOf(listed),
    limitsOf(listed),
    change,
    (setting.description ?? "").replaceAll("<", "\\<"),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Of prose; a row of a table is one line. */
const maxLineLength = 120;

const tableHead =
  "| Setting | Type | Default | Unit | Limits | Change | What it does |\n|---|---|---|---|---|---|---|";

/** Sections within sections have no row of their own; what they mean stands above the table. */
function renderTopLevel(listed: ListedSetting): string {
  const below = settingsBelow(listed.schema, listed.path);
  const notes = below
    .filter((child) => isSection(child) && !child.path.endsWith(listed.setting.dropgate.keyName ?? ">"))
    .map((child) => `\`${child.path}\`: ${child.setting.description}`);
  const rows = below.filter(hasValue).map(rowOf);
  const keys = listed.setting.dropgate.form;
  const keyNote = keys === undefined ? [] : [`\`${listed.setting.dropgate.keyName}\` stands for ${keys}.`];
  const text = [`### ${listed.path}`, listed.setting.description ?? "", ...keyNote, ...notes];
  const paragraphs = text.map((paragraph) => wrapped(paragraph, maxLineLength).join("\n"));
  return `${paragraphs.join("\n\n")}\n\n${tableHead}\n${rows.join("\n")}`;
}

/** The text of `docs/configuration.md`. */
export function renderReference(): string {
  const topLevel = childrenOf(configSchema, "");
  const plain = topLevel.filter(hasValue).map(rowOf);
  const sections = topLevel.filter(isSection).map(renderTopLevel);
  return `${[introduction, `${tableHead}\n${plain.join("\n")}\n`, sections.join("\n\n")].join("\n")}\n`;
}
