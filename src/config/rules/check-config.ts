/** Rules that look at more than one setting. Each says what it looks at, so that it is left out when that is faulty. */
import { checkAlerts, warnOfAlerts } from "./alerts-rules.ts";
import { checkAppointments } from "./appointments-rules.ts";
import { checkConsoleBalancers, warnOfBalancers } from "./balancer-rules.ts";
import { isLoopbackHost, isWildcardHost } from "../reader/address-range.ts";
import { checkOutboundSettings, warnOfOutboundSettings } from "./check-outbound-settings.ts";
import { checkExpectedArrivals } from "./check-expected-arrivals.ts";
import { checkMessages, warnOfMessages } from "./messages-rules.ts";
import { checkRetention, warnOfRetention } from "./retention-rules.ts";
import { checkRemoteSettings, warnOfRemoteSettings } from "./check-remotes.ts";
import { storeUrlFault } from "../store-url.ts";
import { checkTimes, isWithin, type RuleFault, when } from "./rule-fault.ts";
import type { Config } from "../schema.ts";

interface Rule {
  readonly looksAt: readonly string[];
  readonly severity: "fault" | "warning";
  check(config: Config): RuleFault[];
}

export interface RuleOutcome {
  readonly faults: readonly RuleFault[];
  readonly warnings: readonly RuleFault[];
}

function listenOnSameAddress(left: string, right: string): boolean {
  return left === right || isWildcardHost(left) || isWildcardHost(right);
}

interface Listener {
  readonly path: string;
  readonly host: string;
  readonly port: number;
}

/** All listeners, in the order in which a clash is reported at the later one. */
function listenersOf({ http, console: ofConsole, sftp, ftp }: Config): Listener[] {
  const { implicitPort } = ftp;
  const implicit =
    implicitPort === undefined ? [] : [{ path: "ftp.implicitPort", host: ftp.host, port: implicitPort }];
  const { enabled: hasConsole, host = http.host, port: consolePort } = ofConsole;
  return [
    { path: "http.port", ...http },
    ...(hasConsole && consolePort !== undefined ? [{ path: "console.port", host, port: consolePort }] : []),
    ...(sftp.enabled ? [{ path: "sftp.port", ...sftp }] : []),
    ...(ftp.enabled ? [{ path: "ftp.port", ...ftp }, ...implicit] : []),
  ];
}

function checkPorts(config: Config): RuleFault[] {
  const listeners = listenersOf(config).filter(({ port }) => port !== 0);
  return listeners.flatMap(({ path, host, port }, index) => {
    const other = listeners
      .slice(0, index)
      .find((each) => each.port === port && listenOnSameAddress(each.host, host));
    if (other === undefined) return [];
    return [{ path, otherPath: other.path, message: `is ${port}, and so is ${other.path}; take another` }];
  });
}

function checkFtp(config: Config): RuleFault[] {
  const { tls, allowPlain, enabled, implicitPort, passivePorts } = config.ftp;
  if (!enabled) return [];
  const { from, to } = passivePorts ?? { from: 0, to: 0 };
  const taken = listenersOf(config).find(({ port }) => port >= from && port <= to && port !== 0);
  return [
    ...when(tls === undefined && !allowPlain, {
      path: "ftp.enabled",
      message:
        "no user could sign in: set ftp.tls with certificate and key, or ftp.allowPlain to accept passwords and files in clear text",
    }),
    ...when(tls === undefined && implicitPort !== undefined, {
      path: "ftp.implicitPort",
      message: "implicit TLS needs a certificate; set ftp.tls, or leave the port out",
    }),
    ...when(from > to, {
      path: "ftp.passivePorts.from",
      otherPath: "ftp.passivePorts.to",
      message: `is ${from}, above ftp.passivePorts.to (${to}); swap them`,
    }),
    ...when(taken !== undefined, {
      path: "ftp.passivePorts",
      message: `has the port of ${taken?.path} (${taken?.port}) in it; take a range without it`,
    }),
  ];
}

function checkPlainHttp({ http }: Config): RuleFault[] {
  return when(!isLoopbackHost(http.host) && http.tls === undefined && !http.allowPlain, {
    path: "http.host",
    message:
      "other machines can connect but cannot sign in over plain HTTP; set http.tls, or http.allowPlain behind a TLS proxy",
  });
}

function checkConsole({ console: { host, port } }: Config): RuleFault[] {
  return when(host !== undefined && port === undefined, {
    path: "console.host",
    message: "has no effect without console.port; set that too, or remove it",
  });
}

function warnOfPlainConsole({ http, console: { host, port, enabled } }: Config): RuleFault[] {
  const isOpen = enabled && port !== undefined && !isLoopbackHost(host ?? http.host);
  return when(isOpen && http.tls === undefined && !http.allowPlain && isLoopbackHost(http.host), {
    path: host === undefined ? "console.port" : "console.host",
    message:
      "other machines can connect but cannot sign in over plain HTTP; set http.tls, or http.allowPlain behind a TLS proxy",
  });
}

function checkHttpTimeouts({ http }: Config): RuleFault[] {
  return when(http.headersTimeoutMs > http.requestTimeoutMs, {
    path: "http.headersTimeoutMs",
    otherPath: "http.requestTimeoutMs",
    message: `is ${http.headersTimeoutMs}, longer than http.requestTimeoutMs (${http.requestTimeoutMs}), which counts the head too; shorten it`,
  });
}

function checkGrace({ inbound }: Config): RuleFault[] {
  return when(inbound.incompleteGraceMs < inbound.settleMs, {
    path: "inbound.incompleteGraceMs",
    otherPath: "inbound.settleMs",
    message: `is ${inbound.incompleteGraceMs}, shorter than inbound.settleMs (${inbound.settleMs}), so that no second scan would happen; lengthen it`,
  });
}

function checkFolders({ companies, stateDir }: Config): RuleFault[] {
  const firstUse = new Map<string, string>();
  const faults: RuleFault[] = [];
  for (const [code, company] of Object.entries(companies)) {
    for (const [index, folder] of company.folders.entries()) {
      const path = `companies.${code}.folders[${index}].path`;
      const first = firstUse.get(folder.path);
      if (first !== undefined)
        faults.push({ path, message: `is the same folder as ${first}; a file can be taken only once` });
      firstUse.set(folder.path, first ?? path);
      if (isWithin(folder.path, stateDir) || isWithin(stateDir, folder.path))
        faults.push({ path, message: "overlaps with stateDir; name a folder outside of it" });
    }
  }
  return faults;
}

function checkBackup({ backup, stateDir }: Config): RuleFault[] {
  const { folder, schedule } = backup;
  return [
    ...checkTimes(backup, "backup"),
    ...when(schedule !== undefined && folder === undefined, {
      path: "backup.schedule",
      message: "has no effect without backup.folder; set that too, or remove it",
    }),
    ...when(folder !== undefined && (isWithin(folder, stateDir) || isWithin(stateDir, folder)), {
      path: "backup.folder",
      message: "overlaps with stateDir; name a folder outside of it, best on another disk",
    }),
  ];
}

/** Nothing where the secret cannot be read: that is told by itself. */
function checkStore({ store }: Config): RuleFault[] {
  const url = store?.ifKnown();
  const fault = url === undefined ? undefined : storeUrlFault(url);
  return fault === undefined ? [] : [{ path: "store", message: `the secret ${fault}` }];
}

function checkStoreBackup({ store, backup }: Config): RuleFault[] {
  return when(store !== undefined && backup.folder !== undefined, {
    path: "backup.folder",
    otherPath: "store",
    message:
      "dropgate makes no backups of a database on PostgreSQL: back it up with PostgreSQL's own tools, and stateDir after it; remove the setting",
  });
}

function checkCluster({ store, cluster }: Config): RuleFault[] {
  const alone = (["node", "nodeDir"] as const).filter((name) => cluster[name] !== undefined);
  return alone.flatMap((name) =>
    when(store === undefined, {
      path: `cluster.${name}`,
      message:
        "has no effect without `store`: several nodes need a database of PostgreSQL; set that too, or remove it",
    }),
  );
}

const hosts = ["http.host", "http.port", "console", "sftp.enabled", "sftp.host", "sftp.port"] as const;
const ftpHosts = ["ftp.enabled", "ftp.host", "ftp.port", "ftp.implicitPort"] as const;

const rules: readonly Rule[] = [
  { looksAt: [...hosts, ...ftpHosts], severity: "fault", check: checkPorts },
  {
    looksAt: [...hosts, ...ftpHosts, "ftp.tls", "ftp.allowPlain", "ftp.passivePorts"],
    severity: "fault",
    check: checkFtp,
  },
  { looksAt: ["http.host", "http.tls", "http.allowPlain"], severity: "warning", check: checkPlainHttp },
  { looksAt: ["console.host", "console.port"], severity: "fault", check: checkConsole },
  {
    looksAt: ["console.port", "console.proxyProtocolFrom"],
    severity: "fault",
    check: checkConsoleBalancers,
  },
  {
    looksAt: [
      ...["http.proxyProtocolFrom", "console.proxyProtocolFrom"],
      ...["sftp.proxyProtocolFrom", "ftp.proxyProtocolFrom"],
    ],
    severity: "warning",
    check: warnOfBalancers,
  },
  {
    looksAt: ["http.host", "http.tls", "http.allowPlain", "console"],
    severity: "warning",
    check: warnOfPlainConsole,
  },
  {
    looksAt: ["http.headersTimeoutMs", "http.requestTimeoutMs"],
    severity: "fault",
    check: checkHttpTimeouts,
  },
  { looksAt: ["inbound.incompleteGraceMs", "inbound.settleMs"], severity: "fault", check: checkGrace },
  { looksAt: ["companies", "stateDir"], severity: "fault", check: checkFolders },
  { looksAt: ["backup", "stateDir"], severity: "fault", check: checkBackup },
  { looksAt: ["store"], severity: "fault", check: checkStore },
  { looksAt: ["store", "backup.folder"], severity: "fault", check: checkStoreBackup },
  { looksAt: ["store", "cluster"], severity: "fault", check: checkCluster },
  {
    looksAt: ["retention", "companies", "stateDir", "backup.folder"],
    severity: "fault",
    check: checkRetention,
  },
  { looksAt: ["retention", "companies"], severity: "warning", check: warnOfRetention },
  { looksAt: ["alerts", "companies"], severity: "fault", check: checkAlerts },
  { looksAt: ["alerts", "companies"], severity: "warning", check: warnOfAlerts },
  { looksAt: ["companies", "stateDir"], severity: "fault", check: checkOutboundSettings },
  { looksAt: ["companies"], severity: "warning", check: warnOfOutboundSettings },
  { looksAt: ["companies"], severity: "fault", check: checkRemoteSettings },
  { looksAt: ["companies"], severity: "warning", check: warnOfRemoteSettings },
  { looksAt: ["companies", "retention"], severity: "fault", check: checkExpectedArrivals },
  { looksAt: ["companies"], severity: "fault", check: checkAppointments },
  { looksAt: ["companies"], severity: "fault", check: checkMessages },
  { looksAt: ["companies"], severity: "warning", check: warnOfMessages },
];

function isBelow(path: string, parent: string): boolean {
  return parent === "" || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

function touches(path: string, other: string): boolean {
  return path === other || isBelow(path, other) || isBelow(other, path);
}

/** Companies without a fault: others would be judged by defaults, or have parts missing. */
function withSoundCompanies(config: Config, faultyPaths: readonly string[]): Config {
  const isSound = (code: string) => !faultyPaths.some((path) => touches(path, `companies.${code}`));
  const sound = Object.entries(config.companies).filter(([code]) => isSound(code));
  return { ...config, companies: Object.assign(Object.create(null), Object.fromEntries(sound)) };
}

/**
 * Applies the rules, but for those that look at a setting in `faultyPaths`, where only a default would be judged. A fault in a
 * company hides those of the same company alone.
 */
export function checkConfig(config: Config, faultyPaths: readonly string[]): RuleOutcome {
  const judged = withSoundCompanies(config, faultyPaths);
  const hides = (faulty: string, path: string) =>
    path === "companies" ? faulty === "companies" || faulty === "" : touches(path, faulty);
  const applicable = rules.filter(
    ({ looksAt }) => !looksAt.some((path) => faultyPaths.some((faulty) => hides(faulty, path))),
  );
  const of = (severity: Rule["severity"]): RuleFault[] =>
    applicable.filter((rule) => rule.severity === severity).flatMap((rule) => rule.check(judged));
  return { faults: of("fault"), warnings: of("warning") };
}
