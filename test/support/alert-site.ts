/** A real store whose incidents are found as a test says, and told by the configuration of the test to real servers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { AlertWatch } from "../../src/app/alerts/alert-watch.ts";
import type { AlertSources, Detectors } from "../../src/app/alerts/detector.ts";
import { saveOutboundSettings } from "../../src/app/daemon/outbound-settings.ts";
import { createTargets } from "../../src/app/daemon/outbound-targets.ts";
import { alertReceiversOf } from "../../src/config/alert-settings.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import type { Config } from "../../src/config/schema.ts";
import { type AlertKindName, alertKindNames } from "../../src/domain/alerts/alert-kinds.ts";
import type { Finding } from "../../src/domain/alerts/incident.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { DeliveryQueue } from "../../src/outbound/delivery-queue.ts";
import { createAlertRenderer } from "../../src/outbound/render-alert.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import type { LogLine } from "./delivery-site.ts";
import { openFreshStore } from "./fresh-store.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { type ReceivedMail, type SmtpServer, startSmtpServer } from "./smtp-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { minuteMs } from "../../src/lib/durations.ts";

/** A Thursday, 08:00 in UTC. */
const start = Date.UTC(2026, 10, 5, 8);

/** A finding with what most tests do not care for. */
export function finding(rest: Partial<Finding> = {}): Finding {
  return {
    cause: "",
    summary: "2 stop files were refused",
    count: 2,
    samples: ["a.xml: 104 wrong"],
    ...rest,
  };
}

/** The subject of a mail, unfolded. */
export function subjectOf({ source }: ReceivedMail): string {
  const folded = /^Subject: (.*(?:\r?\n[ \t].*)*)/m.exec(source)?.[1] ?? "";
  return folded.replaceAll(/\r?\n[ \t]/g, " ");
}

export class AlertSite {
  readonly store: Store;
  readonly smtp: SmtpServer;
  readonly web: Receiver;
  readonly stateDir: string;
  readonly lines: LogLine[] = [];
  /** What detectors find, by kind and company; an error is thrown. */
  readonly found = new Map<string, readonly Finding[] | Error>();
  now = start;
  /** Whether the node of the watch has the company; 0 is what concerns none. */
  isOurs = (_companyId: number): boolean => true;
  config: Config;
  queue: DeliveryQueue;
  watch: AlertWatch;

  private constructor(
    store: Store,
    stateDir: string,
    config: Config,
    servers: { readonly smtp: SmtpServer; readonly web: Receiver },
  ) {
    this.store = store;
    this.stateDir = stateDir;
    this.config = config;
    this.smtp = servers.smtp;
    this.web = servers.web;
    this.queue = this.#newQueue();
    this.watch = this.newWatch();
  }

  /** The company ACME, by the settings of a test. */
  static async open(alerts: object = {}, company: object = {}): Promise<AlertSite> {
    const stateDir = temporaryFolder();
    const store = await openFreshStore(stateDir);
    await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const servers = { smtp: await startSmtpServer(), web: await startReceiver() };
    const site = new AlertSite(store, stateDir, await configFrom({}), servers);
    await site.configure(alerts, company);
    await site.queue.start(new AbortController().signal);
    onTestFinished(async () => {
      await site.queue.stop(AbortSignal.abort());
      await store.close();
      await Promise.all([servers.smtp.end(), servers.web.end()]);
    });
    return site;
  }

  /** By default `ops@example.com` is the operator, and no company is told. */
  async configure(alerts: object, company: object = {}): Promise<void> {
    const email = { host: "127.0.0.1", port: this.smtp.port, tls: "none", from: "dropgate@example.com" };
    const all = { email, to: ["ops@example.com"], installation: "test", ...alerts };
    this.config = await configFrom({ alerts: all, companies: { ACME: company } });
    await saveOutboundSettings(this.store, this.config);
    this.queue.reload();
  }

  newWatch(): AlertWatch {
    const detect =
      (kind: AlertKindName) =>
      async ({ subject }: { readonly subject: { readonly code: string } }) => {
        const found = this.found.get(`${kind} ${subject.code}`) ?? [];
        if (found instanceof Error) throw found;
        return found;
      };
    const detectors = Object.fromEntries(alertKindNames.map((kind) => [kind, detect(kind)])) as unknown;
    return new AlertWatch({
      store: this.store,
      clock: { now: () => this.now },
      log: this.#log(),
      sources: { config: () => this.config } as AlertSources,
      detectors: detectors as Detectors,
      trigger: () => ({ stop: () => undefined }),
      isOurs: (companyId) => this.isOurs(companyId),
    });
  }

  #log() {
    return createLogger({
      level: "debug",
      destination: { write: (line: string) => this.lines.push(JSON.parse(line) as LogLine) },
    });
  }

  #newQueue(): DeliveryQueue {
    return new DeliveryQueue({
      store: this.store,
      clock: { now: () => this.now },
      log: this.#log(),
      random: () => 0.5,
      render: createAlertRenderer({
        read: this.store.read,
        receiversOf: (code) => alertReceiversOf(this.config, code),
      }),
      targets: createTargets({ config: () => this.config, stateDir: this.stateDir }),
    });
  }

  /** Refused files of ACME, unless another kind or company is named. */
  find(found: readonly Finding[] | Error, kind: AlertKindName = "refusedFiles", code = "ACME"): void {
    this.found.set(`${kind} ${code}`, found);
  }

  /** So many minutes pass, with a scan in each, or each so many; at the end all that is due is sent. */
  async pass(minutes: number, every = 1): Promise<void> {
    for (let passed = 0; passed < minutes; passed += every) {
      this.now += every * minuteMs;
      await this.watch.look();
    }
    await this.queue.settled();
  }

  /** One scan at this moment; what is due is sent. */
  async look(): Promise<void> {
    await this.watch.look();
    await this.queue.settled();
  }

  get subjects(): readonly string[] {
    return this.smtp.mails.map(subjectOf);
  }
}

export async function configFrom(settings: object): Promise<Config> {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: folder, ...settings }));
  const outcome = await loadConfig({ path, cwd: folder, env: {} });
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}
