/**
 * Hosts of all companies of a site that send files without a pause, each its own in their order, over sessions that the balancer
 * shares out. They wait while more are undecided than there are sessions: what comes in is then what is decided.
 */
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { SftpLink } from "../../test/support/cluster-link.ts";
import type { ClusterSite } from "../../test/support/cluster-site.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { sampleName, sampleStop } from "../sample-stop.ts";

const lookEveryMs = 100;
const pauseMs = 10;

let serial = 0;

const isDone = (work: Promise<void>) =>
  work.then(
    () => true,
    () => false,
  );

export class SendingHosts {
  readonly #site: ClusterSite;
  /** One session: the server's processor time is measured. */
  readonly #database: pg.Client;
  readonly #sending: readonly Promise<void>[];
  readonly #looking: Promise<void>;
  #isEnding = false;
  #mayCome = true;

  private constructor(site: ClusterSite, database: pg.Client, linksOfCompany: number) {
    this.#site = site;
    this.#database = database;
    this.#sending = site.companies.flatMap(({ host }) =>
      Array.from({ length: linksOfCompany }, () => this.#send(host)),
    );
    this.#looking = this.#look();
  }

  static async start(site: ClusterSite, linksOfCompany: number): Promise<SendingHosts> {
    const database = new pg.Client({ connectionString: site.database.url });
    await database.connect();
    return new SendingHosts(site, database, linksOfCompany);
  }

  /** Files that the database has: one that waits counts half, since it has come, and is still to be decided and filed. */
  async countFiles(): Promise<number> {
    return (await this.#count(1)) + (await this.#count(0)) / 2;
  }

  /** Resolves when all that they have sent is decided and filed. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all([...this.#sending, this.#looking]);
    await waitFor("all files to be filed", async () => (await this.#count(0)) === 0);
    await this.#database.end();
  }

  async #send(host: string): Promise<void> {
    const link = new SftpLink(this.#site, host);
    const put = () => {
      serial += 1;
      const { stopNbr, name } = sampleName(serial);
      return link.put(`/inbound/${name}`, sampleStop(stopNbr));
    };
    // The balancer takes a moment to see which nodes run.
    await waitFor("a connection", () => isDone(put()));
    while (!this.#isEnding) {
      if (this.#mayCome) await put();
      else await wait(pauseMs);
    }
    link.end();
  }

  async #look(): Promise<void> {
    while (!this.#isEnding) {
      this.#mayCome = (await this.#count(0)) <= this.#sending.length;
      await wait(lookEveryMs);
    }
  }

  async #count(isFiled: 0 | 1): Promise<number> {
    const { rows } = await this.#database.query(
      `select count(*) as files from files where is_filed = ${isFiled}`,
    );
    return Number(rows[0]?.files);
  }
}
