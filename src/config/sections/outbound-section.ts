/** What goes out for a company: which events, where to, and as which exports (specification/outbound.md#targets). */
import { type TProperties, Type } from "@sinclair/typebox";
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
  tls,
} from "./server-section.ts";
import {
  choice,
  flag,
  integer,
  list,
  map,
  optional,
  path,
  secret,
  section,
  text,
  variants,
} from "../reader/setting.ts";

/** The target that exists without any configuration, and that exports go to when they name none. */
export const defaultTargetName = "outbound";

/** Export of a company that has none in the configuration, made when it is asked for by hand. */
export const defaultExportName = "export";

export const outboundDefaults = { embedDocuments: false, collectWithinHours: 0, keepDays: 90 } as const;

function name(options: { description: string; example: string }) {
  return text({ maxLength: 40, pattern: namePattern, form: nameForm, ...options });
}

function target<T extends string, P extends TProperties>(type: T, properties: P, description: string) {
  return section(
    {
      type: choice([type], { description: "What kind of target it is.", example: type }),
      completions: choice(["atOnce", "none"], {
        default: "atOnce",
        description:
          "Whether each completion file goes here as soon as it is due; none is for exports alone.",
      }),
      ...properties,
      timeoutMs: attemptTimeout,
    },
    { description },
  );
}

const folderTarget = target(
  "folder",
  {
    path: optional(path)({
      description:
        "The folder; it has to be there. Without it, the company's own outbound/, where hosts get their files over SFTP.",
      example: "/srv/acme/completed",
    }),
    mustBeMount: flag({
      default: false,
      description:
        "For a `path` at which a share is mounted: while nothing is mounted there, files wait instead of going into the empty mount point.",
    }),
  },
  "A folder of this machine or a share.",
);

const httpsTarget = target(
  "https",
  {
    url: text({
      maxLength: 2_000,
      pattern: "^https?://[^\\s/?#@\\\\]+([/?][^\\s#]*)?$",
      form: "an address such as https://tms.example.com/hooks/dropgate, without user, password and #",
      example: "https://tms.example.com/hooks/dropgate",
      description: "Where each file is posted to.",
    }),
    user: Type.Optional(plain(200, { description: "User for HTTP Basic.", example: "dropgate" })),
    password: optional(secret)({
      description: "Password of the user.",
      example: "env:DROPGATE_TMS_PASSWORD",
    }),
    bearerToken: optional(secret)({
      description: "Token that is sent as `Authorization: Bearer`, instead of user and password.",
      example: "env:DROPGATE_TMS_TOKEN",
      isAlternative: true,
    }),
    signatureSecret: optional(secret)({
      description: "Key of the signature in each request, which the receiver checks.",
      example: "env:DROPGATE_TMS_SIGNATURE",
    }),
    ...tls,
    certificate: optional(path)({
      description: "Certificate (PEM) with which dropgate shows the server who it is; needs privateKey.",
      example: "/etc/dropgate/tls/client.pem",
    }),
    privateKey: optional(path)({
      description: "Private key (PEM, without passphrase) of the certificate.",
      example: "/etc/dropgate/tls/client-key.pem",
    }),
    allowPlain: flag({
      default: false,
      description: "Take a url with http://: everything, the password too, can be read on the way.",
    }),
    connections: connections(4, "deliveries"),
  },
  "A web server that each file is posted to.",
);

const remoteFolder = {
  directory: serverDirectory(),
  makeFolders: flag({ default: false, description: "Make the folder on the server when it is missing." }),
};

const sftpTarget = target(
  "sftp",
  {
    ...sftpServer("Without any, nothing is sent; `dropgate delivery show` then shows the one to put here."),
    ...remoteFolder,
    connections: connections(2, "deliveries"),
  },
  "An SFTP server. Files are uploaded under a temporary name and then renamed.",
);

const ftpTarget = target(
  "ftp",
  { ...ftpServer, ...remoteFolder, connections: connections(2, "deliveries") },
  "An FTP server without TLS.",
);

const ftpsTarget = target(
  "ftps",
  { ...ftpsServer, ...remoteFolder, connections: connections(2, "deliveries") },
  "An FTP server with TLS.",
);

const exportSection = section(
  {
    schedule: plain(200, {
      example: "30 2 * * *",
      description:
        "When it runs, as in cron: minute, hour, day of month, month, day of week; numbers, names (JAN, MON), lists, ranges, steps and *. One that begins with * needs quotes.",
    }),
    zone: scheduleZone,
    form: choice(["document", "files"], {
      default: "document",
      description:
        "document: one XML file with all stops; files: a folder with one file for each. Both have a manifest.",
    }),
    target: optional(name)({
      example: "sftp",
      description: `Name of the target that it goes to; without it, ${defaultTargetName}.`,
    }),
  },
  { description: "One export." },
);

export const outboundSection = section(
  {
    on: list(
      integer({
        range: [7_000, 8_999],
        default: 7_014,
        description: "Code of a recorded event of a stop.",
      }),
      {
        default: [],
        maxItems: 30,
        example: [7014, 8100],
        description:
          "Events besides the completion of a stop (7009, 7021) that cause a completion file too, by their codes.",
      },
    ),
    embedDocuments: flag({
      default: outboundDefaults.embedDocuments,
      description: "Whether completion files hold what was captured (base64) as well as its reference.",
    }),
    collectWithinHours: integer({
      default: outboundDefaults.collectWithinHours,
      range: [0, 8_760],
      description:
        "A warning is given for files that have lain in the company's outbound/ for so long without having been fetched; 0 gives none.",
    }),
    keepDays: integer({
      default: outboundDefaults.keepDays,
      range: [1, 3_650],
      description:
        "How many days completions are kept after they have been delivered; so long can exports be made again. Outcomes of load imports, appointments that were given back and positions of loads that are over are kept as long.",
    }),
    targets: map(
      variants(
        {
          folder: folderTarget,
          https: httpsTarget,
          sftp: sftpTarget,
          ftp: ftpTarget,
          ftps: ftpsTarget,
        },
        { description: "One target." },
      ),
      {
        ...nameKeys,
        example: "tms",
        description: `Where completion files and exports go, by names of your choice. What can be set depends on the type: below, <https> and the like stand for the name of a target of that type. Without any there is one, ${defaultTargetName}, the company's own folder outbound/.`,
      },
    ),
    exports: map(exportSection, {
      ...nameKeys,
      example: "nightly",
      description:
        "What has been completed since the last time, gathered by a schedule, by names of your choice.",
    }),
  },
  { description: "Completion files and exports." },
);
