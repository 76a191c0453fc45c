/** Loads that are driven, customers who are told of it by the configuration of a test, and servers that take the messages. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { outboundCopyOf } from "../../src/app/daemon/outbound-settings.ts";
import { createTargets } from "../../src/app/daemon/outbound-targets.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { messageSettingsOf } from "../../src/config/company-settings.ts";
import type { Config } from "../../src/config/schema.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { DeliveryQueue } from "../../src/outbound/delivery-queue.ts";
import { createMessageRenderer } from "../../src/outbound/render-message.ts";
import { saveOutboundCopy } from "../../src/store/outbound/outbound-targets.ts";
import type { LogLine } from "./delivery-site.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { north, RouteDriver } from "./route-driver.ts";
import { type SmtpServer, startSmtpServer } from "./smtp-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Settings as they stand in a file, under `companies.ACME.messages`. */
export type MessagesToConfigure = Readonly<Record<string, unknown>>;

export async function configOf(company: object): Promise<Config> {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: folder, companies: { ACME: company } }));
  const outcome = await loadConfig({ path, cwd: folder, env: {} });
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

/** A message of one line in both ways. */
export function both(text: string): object {
  return { email: { subject: text, text }, sms: { text } };
}

export const contact = { contactName: "Ann Hill", email: "ann@customer.example", sms: "+49 (170) 123-4567" };

/** A stop in Germany with a customer who has both addresses. */
export function stopFor(stopNbr: string, rest: object = {}, party: object = {}): object {
  return {
    stopNbr,
    to: { ...north(10), contact, schedule: { timeZone: "Europe/Berlin" }, ...party },
    ...rest,
  };
}

export class MessageSite {
  readonly route: RouteDriver;
  readonly smtp: SmtpServer;
  readonly sms: Receiver;
  readonly lines: LogLine[] = [];
  queue: DeliveryQueue;
  config: Config;

  private constructor(
    route: RouteDriver,
    servers: { readonly smtp: SmtpServer; readonly sms: Receiver },
    config: Config,
  ) {
    this.route = route;
    this.smtp = servers.smtp;
    this.sms = servers.sms;
    this.config = config;
    this.queue = this.#newQueue();
  }

  /** The company ACME, with an SMTP server and a service for text messages. */
  static async open(messages: MessagesToConfigure): Promise<MessageSite> {
    const route = await RouteDriver.open();
    route.site.eventSettings = { ...route.site.eventSettings, etaIntervalMs: 0 };
    const servers = { smtp: await startSmtpServer(), sms: await startReceiver() };
    const site = new MessageSite(route, servers, await configOf({}));
    await site.configure(messages);
    onTestFinished(async () => {
      await site.queue.stop(AbortSignal.abort());
      await Promise.all([servers.smtp.end(), servers.sms.end()]);
    });
    return site;
  }

  get store() {
    return this.route.site.store;
  }

  async configure(messages: MessagesToConfigure): Promise<void> {
    const email = { host: "127.0.0.1", port: this.smtp.port, tls: "none", from: "orders@acme.example" };
    const body = '{"to": "{{to}}", "text": "{{text}}", "id": "{{id}}"}';
    const sms = { url: this.sms.url, allowPlain: true, body };
    this.config = await configOf({ messages: { email, sms, ...messages } });
    await this.#save();
  }

  async configureNothing(): Promise<void> {
    this.config = await configOf({});
    await this.#save();
  }

  async #save(): Promise<void> {
    const company = { id: this.route.site.companyId, code: "ACME" };
    await this.store.write("site", (tx) => saveOutboundCopy(tx, outboundCopyOf(this.config, company)));
  }

  #newQueue(): DeliveryQueue {
    const clock = { now: () => this.route.site.now };
    const { store } = this;
    const log = createLogger({
      level: "debug",
      destination: { write: (line: string) => this.lines.push(JSON.parse(line) as LogLine) },
    });
    const config = () => this.config;
    const settings = (code: string) => messageSettingsOf(this.config, code);
    const message = createMessageRenderer({ store, clock, settings });
    return new DeliveryQueue({
      ...{ store, clock, log, random: () => 0.5 },
      // Completion files are for nobody here: their folder is not there.
      render: (row) => (row.kind === "message" ? message(row) : Promise.reject(new Error("no files here"))),
      targets: createTargets({ config, stateDir: temporaryFolder() }),
    });
  }

  async startQueue(): Promise<void> {
    this.queue = this.#newQueue();
    await this.queue.start(new AbortController().signal);
  }

  /** Time passes, and what is due then is tried. */
  async pass(minutes: number): Promise<void> {
    this.route.site.now += minutes * 60_000;
    await this.queue.settled();
  }

  async rows() {
    const rows = await this.store.read.selectFrom("deliveries").selectAll().orderBy("id").execute();
    return rows.filter(({ kind }) => kind === "message");
  }

  /** What was queued, for which stop and whom. */
  async names(): Promise<readonly string[]> {
    return (await this.rows()).map(({ order_key, name }) => `${order_key} ${name}`);
  }

  async states(): Promise<readonly string[]> {
    return (await this.rows()).map(({ state }) => state);
  }

  /** The state of each with its fault. */
  async faults(): Promise<readonly string[]> {
    return (await this.rows()).map(({ state, fault }) => `${state} ${fault}`);
  }

  get texts(): readonly string[] {
    return this.sms.posts.map(({ body }) => (JSON.parse(body.toString()) as { text: string }).text);
  }
}
