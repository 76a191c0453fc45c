/** From the configuration of remotes to the endpoint that polls them. */
import { remoteSettingsOf } from "../../config/company-settings.ts";
import { defaultEveryMs } from "../../config/sections/remotes-section.ts";
import type { Config, RemoteConfig } from "../../config/schema.ts";
import { readCronSchedule } from "../../domain/time/cron-schedule.ts";
import type { FetchSettings } from "../../endpoints/remote/fetch-messages.ts";
import type { PolledRemote, PollSchedule } from "../../endpoints/remote/remote-deps.ts";
import { RemoteEndpoint } from "../../endpoints/remote/remote-endpoint.ts";
import type { Intake } from "../../exchange/uploads/intake.ts";
import type { Locations } from "../../inbound/places/locations.ts";
import type { InboundPipeline } from "../../inbound/node-pipeline.ts";
import { createRemoteMemory, createRemoteStates } from "../../inbound/remotes/remote-memory.ts";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { CaFiles } from "./ca-files.ts";
import type { Cluster } from "./cluster.ts";
import { ownWorkOf } from "./own-work.ts";
import { companyWorkOf } from "./company-work.ts";
import { directoryOf, serverSettingsOf } from "./server-settings.ts";
import type { ReleaseStack } from "./service-group.ts";

/** Between the calls of one poll, and from a first listing to the second. */
const keepMs = 15_000;

/**
 * Values of secrets and contents of files instead of their names. `title`: the remote, for the log. Rejects when a file cannot
 * be read, or does not answer.
 */
export async function fetchSettingsOf(
  settings: RemoteConfig,
  title: string,
  caFiles: CaFiles,
): Promise<FetchSettings> {
  const file = settings.type === "ftps" ? settings.ca : undefined;
  const ca = file === undefined ? undefined : await caFiles.contentOf(file, title);
  const server = serverSettingsOf(settings, { ca, keepMs });
  return { server, directory: directoryOf(settings), moveTo: settings.moveTo };
}

function scheduleOf({ schedule, zone, everyMs = defaultEveryMs }: RemoteConfig): PollSchedule {
  const reading = schedule === undefined ? undefined : readCronSchedule(schedule);
  if (reading?.kind !== "read") return { kind: "every", everyMs };
  return { kind: "cron", cron: reading.schedule, zone };
}

interface RemotesDeps {
  readonly store: Store;
  readonly locations: Locations;
  readonly config: () => Config;
}

function faultOf(error: unknown): { readonly fault: string } {
  return { fault: messageOf(error) };
}

/**
 * The remotes of the configuration, of the companies that there are at this moment. One whose file cannot be read, or does not
 * answer in time, is among them with that fault, so that it keeps none of the others.
 */
async function polledRemotes(
  { store, locations, config }: RemotesDeps,
  caFiles: CaFiles,
): Promise<readonly PolledRemote[]> {
  const companies = await listCompanies(store.read);
  const all = companies.flatMap(({ id, code }) =>
    [...remoteSettingsOf(config(), code)].map(async ([name, settings]) => ({
      ...{ companyId: id, companyCode: code, name, inboundDirectory: locations.inboundDirectory(code) },
      ...{ after: settings.after, settleMs: settings.settleMs, timeoutMs: settings.timeoutMs },
      fetch: await fetchSettingsOf(settings, `${name} of ${code}`, caFiles).catch(faultOf),
      schedule: scheduleOf(settings),
    })),
  );
  return await Promise.all(all);
}

/** Starts polling. What is stopped with the stack takes no more, and hands over what it has fetched. */
export async function startRemotes(
  deps: RemotesDeps & {
    readonly pipeline: InboundPipeline;
    readonly cluster: Cluster;
    readonly intake: Pick<Intake, "whyNoRoom">;
    readonly clock: Clock;
    readonly log: Logger;
    readonly stack: ReleaseStack;
    readonly signal: AbortSignal;
    /** Gets what can be asked of what is not taken. */
    readonly untaken: (() => readonly UntakenOfRemote[])[];
    /** How long a file that a remote names has to answer, and the time between two readings of the list; else the defaults. */
    readonly times?: { readonly answerMs: number; readonly refreshMs: number };
  },
): Promise<RemoteEndpoint> {
  const { pipeline, intake, clock, log, config, cluster, times } = deps;
  const { ownership, keeper } = cluster;
  const { store, isOurs } = ownWorkOf(deps);
  const caFiles = new CaFiles({ log, answerMs: times?.answerMs });
  const endpoint = new RemoteEndpoint({
    inbox: pipeline,
    memory: createRemoteMemory({ ...deps, store }),
    states: createRemoteStates({ store }),
    isSole: ownership.isSole,
    isOurs,
    intake,
    limits: () => config().inbound,
    remotes: () => polledRemotes(deps, caFiles),
    ...{ clock, log, random: Math.random, ...given({ refreshMs: times?.refreshMs }) },
  });
  await deps.stack.start(endpoint, deps.signal);
  keeper?.add(companyWorkOf(endpoint));
  deps.untaken.push(() => endpoint.untaken());
  return endpoint;
}
