/** What goes out for a company: which events, where to, and as which exports (specification/outbound.md#targets). */
import type { TProperties } from "@sinclair/typebox";
import { httpsServer } from "./https-server.ts";
import {
  attemptTimeout,
  connections,
  ftpServer,
  ftpsServer,
  nameForm,
  nameKeys,
  namePattern,
  plain,
  scheduleZone,
  serverDirectory,
  sftpServer,
} from "./server-section.ts";
import {
  choice,
  flag,
  integer,
  list,
  map,
  optional,
  path,
  section,
  text,
  variants,
} from "../reader/setting.ts";

/** The target that exists without any configuration, and that exports go to when they name none. */
export const defaultTargetName = "outbound";

/** Export of a company that has none in the configuration, made when it is asked for by hand. */
export const defaultExportName = "export";

export const outboundDefaults = { embedDocuments: false, collectWithinHours: 0 } as const;

function name(description: string, options: { example: string }) {
  return text(description, { maxLength: 40, pattern: namePattern, form: nameForm, ...options });
}

function target<T extends string, P extends TProperties>(description: string, type: T, properties: P) {
  return section(description, {
    type: choice("What kind of target it is.", [type], { example: type }),
    completions: choice(
      "Whether each completion file goes here as soon as it is due; none is for exports alone.",
      ["atOnce", "none"],
      { default: "atOnce" },
    ),
    ...properties,
    timeoutMs: attemptTimeout,
  });
}

const folderTarget = target("A folder of this machine or a share.", "folder", {
  path: optional(path)(
    "The folder; it has to be there. Without it, the company's own outbound/, where hosts get their files over SFTP.",
    { example: "/srv/acme/completed" },
  ),
  mustBeMount: flag(
    "For a `path` at which a share is mounted: while nothing is mounted there, files wait instead of going into the empty mount point.",
  ),
});

const httpsTarget = target("A web server that each file is posted to.", "https", {
  ...httpsServer("Where each file is posted to.", "https://tms.example.com/hooks/dropgate", "TMS"),
  connections: connections(4, "deliveries"),
});

const remoteFolder = {
  directory: serverDirectory,
  makeFolders: flag("Make the folder on the server when it is missing."),
  connections: connections(2, "deliveries"),
};

const sftpTarget = target(
  "An SFTP server. Files are uploaded under a temporary name and then renamed.",
  "sftp",
  {
    ...sftpServer("Without any, nothing is sent; `dropgate delivery show` then shows the one to put here."),
    ...remoteFolder,
  },
);

const ftpTarget = target("An FTP server without TLS.", "ftp", { ...ftpServer, ...remoteFolder });
const ftpsTarget = target("An FTP server with TLS.", "ftps", { ...ftpsServer, ...remoteFolder });

const exportSection = section("One export.", {
  schedule: plain(
    "When it runs, as in cron: minute, hour, day of month, month, day of week; numbers, names (JAN, MON), lists, ranges, steps and *. One that begins with * needs quotes.",
    200,
    { example: "30 2 * * *" },
  ),
  zone: scheduleZone,
  form: choice(
    "document: one XML file with all stops; files: a folder with one file for each. Both have a manifest.",
    ["document", "files"],
    { default: "document" },
  ),
  target: optional(name)(`Name of the target that it goes to; without it, ${defaultTargetName}.`, {
    example: "sftp",
  }),
});

export const outboundSection = section("Completion files and exports.", {
  on: list(
    "Events besides the completion of a stop (7009, 7021) that cause a completion file too, by their codes.",
    integer("Code of a recorded event of a stop.", { range: [7_000, 8_999], default: 7_014 }),
    { default: [], maxItems: 30, example: [7014, 8100] },
  ),
  embedDocuments: flag("Whether completion files hold what was captured (base64) as well as its reference.", {
    default: outboundDefaults.embedDocuments,
  }),
  collectWithinHours: integer(
    "A warning is given for files that have lain in the company's outbound/ for so long without having been fetched; 0 gives none.",
    { default: outboundDefaults.collectWithinHours, range: [0, 8_760] },
  ),
  keepDays: optional(integer)(
    "Days for retention.outbound, messages, positions, imports and appointments of this company together, as it was set before there was the section retention.",
    { range: [1, 3_650], example: 90, isAlternative: true },
  ),
  targets: map(
    `Where completion files and exports go, by names of your choice. What can be set depends on the type: below, <https> and the like stand for the name of a target of that type. Without any there is one, ${defaultTargetName}, the company's own folder outbound/.`,
    variants("One target.", {
      folder: folderTarget,
      https: httpsTarget,
      sftp: sftpTarget,
      ftp: ftpTarget,
      ftps: ftpsTarget,
    }),
    { ...nameKeys, example: "tms" },
  ),
  exports: map(
    "What has been completed since the last time, gathered by a schedule, by names of your choice.",
    exportSection,
    { ...nameKeys, example: "nightly" },
  ),
});
