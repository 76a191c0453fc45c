/** From the configuration of a target to the target itself. */
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLocations } from "../../inbound/places/locations.ts";
import { isDeepStrictEqual } from "node:util";
import { alertWaysOf, audienceSettingsOf, type WithAlerts } from "../../config/alert-settings.ts";
import { messagesConfigOf, outboundSettingsOf } from "../../config/company-settings.ts";
import type { EmailConfig, SmsConfig, TargetConfig } from "../../config/schema.ts";
import { alertTargetName, operatorCode } from "../../domain/alerts/audience.ts";
import { messageTargetName } from "../../domain/messages/message-event.ts";
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import type { TargetInUse } from "../../outbound/attempt.ts";
import type { DeliveryOutcome, Target } from "../../outbound/target.ts";
import { EmailTarget } from "../../targets/email/email-target.ts";
import type { EmailTargetOptions } from "../../targets/email/email-worker.ts";
import {
  createFolderTarget,
  type FolderTargetOptions,
  type FolderTargetParts,
} from "../../targets/folder/folder-target.ts";
import { createFolderThread, type FolderThread } from "../../targets/folder/folder-thread.ts";
import { UploadTarget } from "../../targets/servers/upload-target.ts";
import { createHttpsTarget, type HttpsTargetOptions } from "../../targets/web/https-target.ts";
import { markerFileName } from "../../store/database/database.ts";
import { createSmsTarget, type SmsTargetOptions } from "../../targets/web/sms-target.ts";
import { directoryOf, serverSettingsOf } from "./server-settings.ts";

type TargetOf<Type extends TargetConfig["type"]> = Extract<TargetConfig, { type: Type }>;

type TargetParts = Pick<FolderTargetParts, "thread">;

/** A target before it is made: two of the same type and options are the same target. */
interface PlannedTarget {
  readonly type: string;
  /** With values of secrets and contents of files instead of their names. */
  readonly options: unknown;
  readonly make: (parts: TargetParts) => Target;
}

function planned<Options>(
  type: string,
  options: Options,
  create: (options: Options, parts: TargetParts) => Target,
): PlannedTarget {
  return { type, options, make: (parts) => create(options, parts) };
}

/** The content of a file that a setting names. Reads synchronously: it happens at the start and at a reload only. */
function contentOf(file: string | undefined, setting: string): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(
      `the file ${file} (${setting}) cannot be read: ${messageOf(error)}; correct it and reload`,
    );
  }
}

function httpsOptions(settings: TargetOf<"https">): HttpsTargetOptions {
  const { url, allowPlain, timeoutMs, connections, user } = settings;
  const secrets = {
    user,
    password: settings.password?.reveal(),
    bearerToken: settings.bearerToken?.reveal(),
    signatureSecret: settings.signatureSecret?.reveal(),
  };
  const files = {
    ca: contentOf(settings.ca, "ca"),
    certificate: contentOf(settings.certificate, "certificate"),
    privateKey: contentOf(settings.privateKey, "privateKey"),
  };
  return { url, allowPlain, timeoutMs, connections, ...given({ ...secrets, ...files }) };
}

/** How long a connection is kept for the next delivery, and the thread of a target. */
const keepMs = 10_000;
const idleMs = 30_000;

function uploadSettings(settings: TargetOf<"sftp" | "ftp" | "ftps">) {
  const { makeFolders, timeoutMs, connections } = settings;
  const ca = settings.type === "ftps" ? contentOf(settings.ca, "ca") : undefined;
  const server = serverSettingsOf(settings, { ca, keepMs });
  return { server, directory: directoryOf(settings), makeFolders, timeoutMs, connections, idleMs };
}

function emailOptions(settings: EmailConfig): EmailTargetOptions {
  const { host, tls, from, timeoutMs, connections, port, user, fromName, replyTo } = settings;
  const password = settings.password?.reveal();
  const ca = contentOf(settings.ca, "ca");
  return {
    host,
    tls,
    from,
    timeoutMs,
    connections,
    ...given({ port, user, fromName, replyTo, password, ca }),
  };
}

function smsOptions(settings: SmsConfig): SmsTargetOptions {
  const { url, method, format, body, headers, allowPlain, timeoutMs, connections, user } = settings;
  const secrets = { password: settings.password?.reveal(), bearerToken: settings.bearerToken?.reveal() };
  const secretHeaders = Object.entries(settings.secretHeaders).map(([name, one]) => [name, one.reveal()]);
  return {
    ...{ url, method, format, headers, allowPlain, timeoutMs, connections },
    secretHeaders: Object.fromEntries(secretHeaders),
    ...given({ body, user, ...secrets, ca: contentOf(settings.ca, "ca") }),
  };
}

/** What messages are sent by has no type in the configuration. */
export type AnyTargetConfig =
  | TargetConfig
  | ({ readonly type: "email" } & EmailConfig)
  | ({ readonly type: "sms" } & SmsConfig);

type NamedTarget = readonly [name: string, settings: AnyTargetConfig];

/** Those by which the operator or a company is told of incidents. */
function alertTargetsOf(config: WithAlerts, code: string): readonly NamedTarget[] {
  const { https } = audienceSettingsOf(config, code) ?? {};
  return alertWaysOf(config, code).flatMap((way): readonly NamedTarget[] => {
    const name = alertTargetName(way);
    if (way === "https")
      return https === undefined ? [] : [[name, { type: way, completions: "none", ...https }]];
    const email = config.alerts?.email;
    return email === undefined ? [] : [[name, { type: way, ...email }]];
  });
}

/** All targets of a company by their names: those of files, of messages, and of alerts, which the operator has as well. */
export function allTargetsOf(config: WithAlerts, code: string): ReadonlyMap<string, AnyTargetConfig> {
  if (code === operatorCode) return new Map(alertTargetsOf(config, code));
  const { email, sms } = messagesConfigOf(config, code) ?? {};
  return new Map<string, AnyTargetConfig>([
    ...outboundSettingsOf(config, code).targets,
    ...alertTargetsOf(config, code),
    ...(email === undefined ? [] : [[messageTargetName("email"), { type: "email", ...email }] as const]),
    ...(sms === undefined ? [] : [[messageTargetName("sms"), { type: "sms", ...sms }] as const]),
  ]);
}

/** Where the own files of a company lie. */
interface TargetPlace {
  readonly stateDir: string;
  readonly companyCode: string;
}

/** Stands for the state directory on shares where others work too: by its database, wherever it was moved to. */
function instanceMarkOf(stateDir: string): string {
  const marker = join(stateDir, markerFileName);
  // Before `init` there is none, and nothing is delivered.
  const id = existsSync(marker) ? readFileSync(marker, "utf8") : stateDir;
  return hash("sha256", id, "hex").slice(0, 8);
}

function folderOptions(settings: TargetOf<"folder">, place: TargetPlace): FolderTargetOptions {
  const { path, mustBeMount } = settings;
  const instanceMark = instanceMarkOf(place.stateDir);
  return path === undefined
    ? { path: ownOutboundFolder(place.stateDir, place.companyCode), isOwn: true, instanceMark }
    : { path, mustBeMount, instanceMark };
}

function planOf(settings: AnyTargetConfig, place: TargetPlace): PlannedTarget {
  const { type } = settings;
  switch (settings.type) {
    case "email":
      return planned(type, emailOptions(settings), (options) => new EmailTarget(options));
    case "sms":
      return planned(type, smsOptions(settings), createSmsTarget);
    case "folder":
      return planned(type, folderOptions(settings, place), createFolderTarget);
    case "https":
      return planned(type, httpsOptions(settings), createHttpsTarget);
    case "sftp":
    case "ftp":
    case "ftps":
      return planned(type, uploadSettings(settings), (options) => new UploadTarget(options));
  }
}

/** Reports with each attempt what is wrong, so that people see it where they look deliveries up. */
function unusable(message: string): Target {
  const answer = async (): Promise<DeliveryOutcome> => ({
    ...{ kind: "failed", fault: "configuration", isPermanent: false, scope: "target", message },
  });
  return { concurrency: 1, deliver: answer, probe: answer, close: async () => undefined };
}

/** The plan; one of an unusable target when a file that the configuration names cannot be read. */
function planOrFault(settings: AnyTargetConfig, place: TargetPlace): PlannedTarget {
  try {
    return planOf(settings, place);
  } catch (error) {
    return planned("unusable", messageOf(error), unusable);
  }
}

/** The folder that a company's hosts fetch files from. */
export function ownOutboundFolder(stateDir: string, companyCode: string): string {
  return createLocations(stateDir).outboundDirectory(companyCode);
}

/** Makes a target, to be closed by who asked for it. */
export function createTarget(settings: AnyTargetConfig, place: TargetPlace): Target {
  return planOrFault(settings, place).make({});
}

const targetGraceMs = 5_000;

export interface TargetName {
  readonly companyCode: string;
  readonly name: string;
}

interface Kept {
  readonly plan: PlannedTarget;
  readonly timeoutMs: number;
  readonly inUse: TargetInUse;
}

function isSame(one: PlannedTarget, other: PlannedTarget): boolean {
  return one.type === other.type && isDeepStrictEqual(one.options, other.options);
}

/**
 * Gives the targets of the configuration in force: the very same one until its configuration has changed, or the content of
 * a file that it names. Throws for a target that the configuration does not have.
 */
export function createTargets(deps: {
  readonly config: () => WithAlerts;
  readonly stateDir: string;
  /** Of all own folders; closed by who has made it. */
  readonly folderThread?: FolderThread;
}): (target: TargetName) => TargetInUse {
  const all = new Map<string, Kept>();
  const { folderThread: thread = createFolderThread() } = deps;
  return ({ companyCode, name }) => {
    const settings = allTargetsOf(deps.config(), companyCode).get(name);
    if (settings === undefined) throw new Error(`the company ${companyCode} has no target ${name}`);
    const { timeoutMs } = settings;
    const plan = planOrFault(settings, { stateDir: deps.stateDir, companyCode });
    const key = `${companyCode} ${name}`;
    const known = all.get(key);
    if (known?.timeoutMs === timeoutMs && isSame(known.plan, plan)) return known.inUse;
    // A target ends its attempts itself, and says what it was doing; the queue does it for one that does not.
    const inUse = { target: plan.make({ thread }), timeoutMs: timeoutMs + targetGraceMs };
    all.set(key, { plan, timeoutMs, inUse });
    return inUse;
  };
}
