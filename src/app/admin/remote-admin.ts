/** Remotes, as the commands of an administrator list and retry them. */
import { remoteSettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { findProcessLockHolder } from "../../store/database/process-lock-holder.ts";
import { askForRemote, listRemoteStates, type RemoteState } from "../../store/ledger/remote-states.ts";
import { chooseCompany } from "./admin.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { WrongUseError } from "./wrong-use-error.ts";

type RemoteConfigOwner = Pick<Config, "stateDir" | "companies">;

/** `asked`: a poll was requested and has not ended. `new`: no poll has ended yet. */
export type RemoteCondition = "fine" | "failing" | "asked" | "new";

/** A remote as commands show it; times are ISO, UTC. */
export interface RemoteView {
  readonly company: string;
  readonly remote: string;
  /** As in `sftp files.example.com, folder out`. */
  readonly server: string;
  readonly condition: RemoteCondition;
  readonly polledAt: string | null;
  readonly succeededAt: string | null;
  readonly failures: number;
  /** When it is tried again, of one that is failing. */
  readonly pausedUntil: string | null;
  readonly fault: string | null;
  readonly message: string | null;
  readonly askedAt: string | null;
}

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
  const chosen = companyCode === undefined ? undefined : await chooseCompany(store, companyCode);
  const companies = (await listCompanies(store.read)).filter(
    ({ id }) => chosen === undefined || chosen.id === id,
  );
  return companies.flatMap(({ id, code }) =>
    [...remoteSettingsOf(config, code)].map(([remote, { type, host, directory }]) => ({
      ...{ companyId: id, company: code, remote, server: `${type} ${host}, folder ${directory}` },
    })),
  );
}

function conditionOf({ polledAt, failures, askedAt }: RemoteState): RemoteCondition {
  if (askedAt > (polledAt ?? 0)) return "asked";
  if (polledAt === null) return "new";
  return failures > 0 ? "failing" : "fine";
}

function toView({ company, remote, server }: Configured, state: RemoteState | undefined): RemoteView {
  const none = { polledAt: null, succeededAt: null, failures: 0, pausedUntil: null, askedAt: null };
  if (state === undefined)
    return { company, remote, server, condition: "new", ...none, fault: null, message: null };
  const { failures, pausedUntil, fault, faultText, askedAt } = state;
  return {
    ...{ company, remote, server, condition: conditionOf(state), failures, fault, message: faultText },
    polledAt: isoOrNull(state.polledAt),
    succeededAt: isoOrNull(state.succeededAt),
    pausedUntil: failures === 0 || pausedUntil === 0 ? null : isoTime(pausedUntil),
    askedAt: askedAt === 0 ? null : isoTime(askedAt),
  };
}

/** The remotes of the configuration, of all companies or of one, with the results of their last polls. */
export async function listRemotes(
  config: RemoteConfigOwner,
  { companyCode }: { readonly companyCode?: string },
): Promise<readonly RemoteView[]> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const states = await listRemoteStates(store.read);
    return (await configuredRemotes(store, config, companyCode)).map((one) =>
      toView(
        one,
        states.find(({ companyId, remote }) => companyId === one.companyId && remote === one.remote),
      ),
    );
  });
}

export interface RemoteRetry {
  /** Companies whose remote of that name will be polled at once. */
  readonly companies: readonly string[];
  readonly daemonPid: number | undefined;
}

/** Requests a poll of a remote at once, whatever it waits for; a running daemon begins within a second. */
export async function retryRemote(
  config: RemoteConfigOwner,
  { name, companyCode }: { readonly name: string; readonly companyCode?: string },
): Promise<RemoteRetry> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const all = await configuredRemotes(store, config, companyCode);
    const wanted = all.filter(({ remote }) => remote === name);
    if (wanted.length === 0) {
      const known = [...new Set(all.map(({ remote }) => remote))].join(", ");
      throw new WrongUseError(
        `there is no remote ${name} in the configuration; there is ${known === "" ? "none" : known}`,
      );
    }
    const now = systemClock.now();
    await store.write("site", async (tx) => {
      for (const { companyId, remote } of wanted) await askForRemote(tx, { companyId, remote, now });
    });
    return {
      companies: wanted.map(({ company }) => company),
      daemonPid: findProcessLockHolder(config.stateDir),
    };
  });
}
