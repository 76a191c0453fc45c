/** Remotes, as the commands of an administrator list and retry them. */
import { setTimeout as wait } from "node:timers/promises";
import { remoteSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import {
  askForRemote,
  isPollAwaited,
  listRemoteStates,
  type RemoteState,
} from "../../store/ledger/remote-states.ts";
import { type HandPause, listHandPauses } from "../../store/outbound/hand-pauses.ts";
import { chooseCompanies } from "./admin.ts";
import { type AdminStore, withAdminStore, writeEach } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";
import { areRunning, findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

type RemoteConfigOwner = Pick<Config, "stateDir" | "companies">;

/**
 * `paused`: by hand, until somebody resumes it. `asked`: a poll was requested, and none that began afterwards has ended.
 * `new`: no poll has ended yet.
 */
export type RemoteCondition = "fine" | "failing" | "paused" | "asked" | "new";

interface Configured {
  readonly companyId: number;
  readonly company: string;
  readonly remote: string;
  readonly server: string;
}

async function configuredRemotes(
  store: AdminStore,
  config: RemoteConfigOwner,
  companyCode: string | undefined,
): Promise<readonly Configured[]> {
  return (await chooseCompanies(store, companyCode)).flatMap(({ id, code }) =>
    [...remoteSettingsOf(config, code)].map(([remote, { type, host, directory }]) => ({
      ...{ companyId: id, company: code, remote, server: `${type} ${host}, folder ${directory}` },
    })),
  );
}

type Polls = Omit<RemoteState, "companyId" | "remote">;

const neverPolled: Polls = {
  ...{ polledAt: null, succeededAt: null, failures: 0, pausedUntil: 0 },
  ...{ askedAt: 0, answeredAskedAt: 0, fault: null, faultText: null },
};

function conditionOf(polls: Polls, pause: HandPause | undefined): RemoteCondition {
  if (pause !== undefined) return "paused";
  const { polledAt, failures } = polls;
  if (isPollAwaited(polls)) return "asked";
  if (polledAt === null) return "new";
  return failures > 0 ? "failing" : "fine";
}

/** A remote as commands show it; times are ISO, UTC. */
export type RemoteView = Readonly<ReturnType<typeof toView>>;

function toView({ company, remote, server }: Configured, polls: Polls, pause: HandPause | undefined) {
  const { failures, pausedUntil, fault, faultText, askedAt } = polls;
  return {
    company,
    remote,
    /** As in `sftp files.example.com, folder out`. */
    server,
    condition: conditionOf(polls, pause),
    /** Who has paused it by hand, when and why. */
    pausedBy: pause?.pausedBy ?? null,
    pausedAt: isoOrNull(pause?.pausedAt ?? null),
    pauseReason: pause?.reason ?? null,
    failures,
    fault,
    message: faultText,
    polledAt: isoOrNull(polls.polledAt),
    succeededAt: isoOrNull(polls.succeededAt),
    /** When it is tried again, of one that is failing. */
    pausedUntil: failures === 0 || pausedUntil === 0 ? null : isoTime(pausedUntil),
    askedAt: askedAt === 0 ? null : isoTime(askedAt),
  };
}

/** The remotes of the configuration, of all companies or of one, with the results of their last polls. */
export async function listRemotes(
  config: RemoteConfigOwner,
  { company }: { readonly company?: string },
): Promise<readonly RemoteView[]> {
  return await withAdminStore(config, async (store) => {
    const states = await listRemoteStates(store.read);
    const pollsOf = (one: Configured): Polls =>
      states.find(({ companyId, remote }) => companyId === one.companyId && remote === one.remote) ??
      neverPolled;
    const configured = await configuredRemotes(store, config, company);
    const pauses = await listHandPauses(store.read);
    return configured.map((one) => toView(one, pollsOf(one), pauseOf(pauses, one)));
  });
}

function pauseOf(pauses: readonly HandPause[], { companyId, remote }: Configured): HandPause | undefined {
  return pauses.find(
    (pause) => pause.kind === "remote" && pause.companyId === companyId && pause.name === remote,
  );
}

/** A request would wait for the end of the pause, and whoever asks would wait for an answer. */
async function refusePaused(store: AdminStore, wanted: readonly Configured[]): Promise<void> {
  const pauses = await listHandPauses(store.read);
  for (const one of wanted) {
    const pause = pauseOf(pauses, one);
    if (pause === undefined) continue;
    const { pausedBy, pausedAt } = pause;
    throw new WrongUseError(
      `the remote ${one.remote} of ${one.company} is paused by ${pausedBy} since ${isoTime(pausedAt)}: \`dropgate remote resume ${one.remote}\` comes first`,
    );
  }
}

export interface RemoteRetry extends RunningDaemons {
  /** Companies whose remote of that name will be polled at once. */
  readonly companies: readonly string[];
}

/** Requests a poll of a remote at once, whatever it waits for; a running daemon begins within a second. */
export async function retryRemote(
  config: RemoteConfigOwner,
  { name, company }: { readonly name: string; readonly company?: string },
): Promise<RemoteRetry> {
  return await withAdminStore(config, async (store) => {
    const all = await configuredRemotes(store, config, company);
    const wanted = all.filter(({ remote }) => remote === name);
    if (wanted.length === 0) {
      const known = [...new Set(all.map(({ remote }) => remote))].join(", ");
      throw new WrongUseError(
        `there is no remote ${name} in the configuration; there is ${known === "" ? "none" : known}`,
      );
    }
    await refusePaused(store, wanted);
    const now = systemClock.now();
    await writeEach(store, wanted, (tx, { companyId, remote }) =>
      askForRemote(tx, { companyId, remote, now }),
    );
    return {
      companies: wanted.map(({ company }) => company),
      ...(await findRunningDaemons(config, store)),
    };
  });
}

const lookEveryMs = 200;

/**
 * Waits until the polls that were requested have ended, as long as the daemon runs and until the time is over; gives the
 * remotes as they are then.
 */
export async function awaitRetry(
  config: RemoteConfigOwner,
  {
    name,
    company,
    patienceMs,
  }: { readonly name: string; readonly company?: string; readonly patienceMs: number },
): Promise<readonly RemoteView[]> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const remotes = (await listRemotes(config, given({ company }))).filter(({ remote }) => remote === name);
    const isRunning = await withAdminStore(config, async (store) =>
      areRunning(await findRunningDaemons(config, store)),
    );
    const isAwaited = remotes.some(({ condition }) => condition === "asked");
    if (!isAwaited || !isRunning || performance.now() > until) return remotes;
    await wait(lookEveryMs);
  }
}
