/**
 * The one definition of the configuration: types, defaults, limits, descriptions and whether a change needs a restart.
 * The loader, `config/dropgate.schema.json`, `config/dropgate.example.yaml` and `docs/configuration.md` all come from it.
 */
import type { Static } from "@sinclair/typebox";
import { alertsSection } from "./sections/alerts-section.ts";
import { backupSection } from "./sections/backup-section.ts";
import { clusterSection } from "./sections/cluster-section.ts";
import { companiesSection } from "./sections/companies-section.ts";
import { consoleSection } from "./sections/console-section.ts";
import { eventsSection } from "./sections/events-section.ts";
import { ftpSection } from "./sections/ftp-section.ts";
import { httpSection } from "./sections/http-section.ts";
import { inboundSection } from "./sections/inbound-section.ts";
import { integrationsSection } from "./sections/integrations-section.ts";
import { retentionSection } from "./sections/retention-section.ts";
import type { Secret } from "./reader/secret.ts";
import { securitySection } from "./sections/security-section.ts";
import { choice, integer, optional, path, secret, section, size } from "./reader/setting.ts";
import { sftpSection } from "./sections/sftp-section.ts";

const logSection = section("The log: JSON lines on standard output.", {
  level: choice("The least important lines that are written.", ["debug", "info", "warn", "error"], {
    default: "info",
  }),
});

const minFree = section(
  "Uploads are refused, and files of folders and remotes stay where they are, while less is free than both: the smaller of the two counts, so that a large disk is not held to its percentage nor a small one to the amount. 0 in either switches the check off.",
  {
    percent: integer("Part of the file system.", { default: 5, range: [0, 90] }),
    bytes: size("Amount.", { default: 2_000_000_000, range: [0, 2 ** 50] }),
  },
);

export const configSchema = section("Configuration of dropgate.", {
  stateDir: path("Database, host keys and the companies' trees. Made with mode 0750 when it is missing.", {
    default: "./var",
    needsRestart: true,
  }),
  store: optional(secret)(
    "Address of a database of PostgreSQL, postgres://USER:PASSWORD@HOST:PORT/DATABASE, instead of the SQLite file in stateDir. All commands need it.",
    { example: "file:postgres-url", needsRestart: true, isAlternative: true },
  ),
  log: logSection,
  http: httpSection,
  console: consoleSection,
  sftp: sftpSection,
  ftp: ftpSection,
  inbound: inboundSection,
  events: eventsSection,
  storage: section("Disk space.", { minFree }),
  backup: backupSection,
  retention: retentionSection,
  alerts: alertsSection,
  security: securitySection,
  companies: companiesSection,
  integrations: integrationsSection,
  cluster: clusterSection,
  shutdown: section("Stopping.", {
    drainMs: integer(
      "How long a stop waits for running work. TimeoutStopSec of the systemd unit must be longer.",
      { default: 20_000, range: [0, 600_000] },
    ),
  }),
  watchdog: section("The self-check behind systemd's watchdog.", {
    selfCheckTimeoutMs: integer(
      "How long the self-check may take. While it does not succeed, systemd's watchdog is not fed and restarts the daemon, unless it is only a full disk or a database of PostgreSQL that fails.",
      { default: 10_000, range: [100, 600_000] },
    ),
  }),
});

type DeepReadonly<T> = T extends Secret
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** The loaded configuration: complete, absolute paths, sizes in bytes, deeply frozen. */
export type Config = DeepReadonly<Static<typeof configSchema>>;
export type OutboundConfig = Config["companies"][string]["outbound"];
export type TargetConfig = OutboundConfig["targets"][string];
export type ExportConfig = OutboundConfig["exports"][string];
export type MessagesConfig = NonNullable<Config["companies"][string]["messages"]>;
export type EmailConfig = NonNullable<MessagesConfig["email"]>;
export type SmsConfig = NonNullable<MessagesConfig["sms"]>;
export type AlertsConfig = Config["alerts"];
export type CompanyAlertsConfig = NonNullable<Config["companies"][string]["alerts"]>;
export type ExpectedArrivalsConfig = Config["companies"][string]["expectedArrivals"][string];
export type RemoteConfig = Config["companies"][string]["remotes"][string];
export type InboundConfig = Config["inbound"];
