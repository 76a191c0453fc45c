/** The console of a daemon: its services, its sessions, and who operates it. */
import { createConsole, type ServedConsole } from "../../endpoints/http/console/console-endpoint.ts";
import type { ConsoleServices } from "../../endpoints/http/console/console-services.ts";
import type { LiveHub } from "../../endpoints/http/console/live/live-hub.ts";
import type { FolderEndpoint } from "../../endpoints/folders/folder-endpoint.ts";
import type { HostServers } from "../../endpoints/http/console/pages/hosts/hosts-view.ts";
import type { RecentRequests } from "../../endpoints/http/server/recent-requests.ts";
import { isNamedOperator } from "../../domain/users/operator.ts";
import { changeOwnPassword } from "../../operations/users/own-password.ts";
import { ConsoleSessions } from "../../sign-in/console-sessions.ts";
import type { Parts } from "../daemon/daemon-parts.ts";
import type { BackupSchedule } from "../watch/backup-schedule.ts";
import { createConsoleActs } from "./act-table.ts";
import { createConsoleHealth, type HealthJobs } from "./health/console-health.ts";
import { startGrowthRounds } from "./health/growth-rounds.ts";
import { HealthJob } from "./health/health-job.ts";
import { createLive } from "./live/create-live.ts";

/** What the console has from the daemon besides its parts. */
export interface ConsoleSurroundings {
  /** Where queries are run. */
  readonly ask: ConsoleServices["ask"];
  readonly backups: Pick<BackupSchedule, "last" | "failure" | "running">;
  /** What the daemon takes files out of. */
  readonly folders: Pick<FolderEndpoint, "standings">;
  /** The last requests of all servers of HTTP. */
  readonly requests: Pick<RecentRequests, "find">;
}

export interface RunningConsole {
  readonly served: ServedConsole;
  readonly live: LiveHub;
}

function startJobs({ configFile, clock, stack }: Parts): HealthJobs {
  const jobs: HealthJobs = {
    check: new HealthJob({ kind: "check", configFile, clock }),
    growth: new HealthJob({ kind: "growth", configFile, clock }),
    verification: new HealthJob({ kind: "verify", configFile, clock }),
  };
  const rounds = startGrowthRounds(jobs.growth);
  stack.push({ name: "check", release: () => jobs.check.stop() });
  stack.push({ name: "verification", release: () => jobs.verification.stop() });
  stack.push({ name: "growth", release: () => jobs.growth.stop() });
  stack.push({ name: "rounds of growth", release: () => rounds.stop() });
  return jobs;
}

/** A server that is switched off has no port. */
function serversOf({ config: { http, ftp }, ports }: Parts): HostServers {
  const { basePath } = http;
  return {
    ...{ sftpPort: ports.get("sftp"), ftpPort: ports.get("ftp") },
    hasFtpTls: ftp.tls !== undefined,
    http: {
      scheme: http.tls === undefined ? "http" : "https",
      port: ports.get("http") ?? http.port,
      basePath,
    },
  };
}

function servicesOf(
  parts: Parts,
  { ask, backups, requests, folders }: ConsoleSurroundings,
  { live, jobs }: { readonly live: LiveHub; readonly jobs: HealthJobs },
): ConsoleServices {
  const { store, clock, documents, ledgerNumbers, signIn, troubles } = parts;
  const { collectionWatch, integrations, intake } = parts;
  const acts = createConsoleActs({
    ...{ store, clock, documents, ledgerNumbers, jobs, collectionWatch, integrations, requests },
    ...{ folders, intake },
    stateDir: parts.config.stateDir,
    config: () => parts.config,
    bans: signIn.bans,
    signIns: signIn,
    isOperator: (user) => isNamedOperator(parts.config.console.operators, user),
  });
  const health = createConsoleHealth({ parts, backups, jobs, troubles });
  const basePath = () => parts.config.http.basePath;
  return { basePath, servers: () => serversOf(parts), ask, live, health, ...acts };
}

/** Its parts end with the stack of the daemon. */
export function consoleOf(parts: Parts, surroundings: ConsoleSurroundings): RunningConsole {
  const { store, clock, log, signIn, stack } = parts;
  const jobs = startJobs(parts);
  const live = createLive(parts, { ask: surroundings.ask, growth: () => jobs.growth.state.last });
  stack.push({ name: "live pages", release: () => live.stop() });
  const served = createConsole({
    services: servicesOf(parts, surroundings, { live, jobs }),
    sessions: new ConsoleSessions({ store, clock, log, signIn }),
    operators: () => parts.config.console.operators,
    changePassword: (change) => changeOwnPassword({ store, clock }, change),
  });
  return { served, live };
}
