/** The ground of the hostile inputs: one daemon, the company of a well-behaved host, and another beside it. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rename, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import ssh2 from "ssh2";
import { sftp } from "./clients.ts";
import { company, type Settings, Site, user } from "./daemon.ts";
import { canMountShares, FrozenShare } from "./frozen-share.ts";
import { parseReceipt, type Receipt, receiptName, type StopFile } from "./stop-files.ts";
import { patienceMs, waitFor } from "./wait-for.ts";

export const otherCompany = "OTHER";

/** Who sends the hostile input. */
export interface Attacker {
  readonly companyCode: string;
  readonly userName: string;
}

export const attackers = {
  other: { companyCode: otherCompany, userName: "mallory" },
  same: { companyCode: company, userName: "insider" },
} as const satisfies Record<string, Attacker>;

/** Addresses of their own, so that a ban of theirs is none of the well-behaved host. */
const hostileAddress = "127.0.9.1";

const expressions = {
  fixed: '{ "companyCode": $companyCode, "stops": [{ "stopNbr": "MAPPED" }] }',
  stuck: "$contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', /^(?=a|b)(a+)+$/)",
};

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Asking {
  readonly body?: string;
  readonly type?: string;
  readonly password?: string;
  readonly userName?: string;
}

export class HostileGround {
  readonly site: Site;
  readonly share: FrozenShare | undefined;
  readonly #sockets = new Set<Socket>();
  #uploads = 0;

  private constructor(site: Site, share: FrozenShare | undefined) {
    this.site = site;
    this.share = share;
  }

  /**
   * Both companies have a drop folder; the other one besides a folder and a target on a share that can be frozen. A mapping has
   * `mappingMs`, all of which one that hangs uses of a processor.
   */
  static async make(settings: Settings = {}, mappingMs = 10_000): Promise<HostileGround> {
    const site = await Site.make();
    for (const [name, text] of Object.entries(expressions))
      await writeFile(join(site.folder, `${name}.jsonata`), text);
    const share = canMountShares ? await FrozenShare.mount(site.folder, ["in", "out"]) : undefined;
    await site.mustRun("company", "add", otherCompany);
    for (const { companyCode, userName } of Object.values(attackers)) {
      await mkdir(HostileGround.#dropOf(site, companyCode));
      await site.addUser(userName, ["DI_Integration"], companyCode);
      await site.mustRun("user", "add-key", userName, "--key", `${site.keyFile}.pub`);
    }
    const ground = new HostileGround(site, share);
    await site.reconfigure({ ...ground.#settings(mappingMs), ...settings });
    await site.start();
    return ground;
  }

  static #dropOf(site: Site, companyCode: string): string {
    return join(site.folder, `drop-${companyCode}`);
  }

  #settings(mappingMs: number) {
    const drop = (companyCode: string) => ({ path: HostileGround.#dropOf(this.site, companyCode) });
    const frozen = this.share === undefined ? [] : [{ path: join(this.share.path, "in") }];
    const target = (path: string) => ({ targets: { frozen: { type: "folder", path, timeoutMs: 5_000 } } });
    const outbound =
      this.share === undefined ? {} : { outbound: { on: [8100], ...target(join(this.share.path, "out")) } };
    return {
      inbound: { settleMs: 200, scanMs: 500 },
      integrations: Object.fromEntries(
        Object.keys(expressions).map((name) => [
          name,
          { file: join(this.site.folder, `${name}.jsonata`), timeoutMs: mappingMs },
        ]),
      ),
      companies: {
        [company]: { folders: [drop(company)] },
        [otherCompany]: { folders: [drop(otherCompany), ...frozen], ...outbound },
      },
    };
  }

  get steadyHost() {
    const { site } = this;
    return { port: site.sftpPort, keyFile: site.keyFile, login: user, receipts: site.path("receipts") };
  }

  /** Sends files with OpenSSH's client. */
  async upload({ userName }: Attacker, files: readonly StopFile[]): Promise<void> {
    const folder = await mkdtemp(join(this.site.client, "upload-"));
    for (const { name, content } of files) await writeFile(join(folder, name), content);
    const commands = files.map(({ name }) => `put "${join(folder, name)}" "inbound/${name}"`);
    const { exitCode, output } = await sftp(this.site, commands, { userName });
    if (exitCode !== 0) throw new Error(`sftp ended with ${exitCode}: ${output}`);
  }

  /** Puts a file of zeros with an end tag and of this size into the drop folder; it takes no room on the disk. */
  async dropSparse({ companyCode }: Attacker, name: string, bytes: number): Promise<void> {
    const folder = HostileGround.#dropOf(this.site, companyCode);
    const file = await open(join(folder, `.${name}`), "wx");
    // It ends as a whole document would: a file that breaks off is left to its writer for minutes.
    await file.write("</Stop>", bytes - "</Stop>".length);
    await file.close();
    await rename(join(folder, `.${name}`), join(folder, name));
  }

  hasReceipt({ companyCode }: Attacker, name: string): boolean {
    return existsSync(join(this.site.stateDir, "companies", companyCode, "receipts", receiptName(name)));
  }

  /** The receipts of the files, when all are there. */
  async receipts(attacker: Attacker, names: readonly string[]): Promise<readonly Receipt[]> {
    const folder = join(this.site.stateDir, "companies", attacker.companyCode, "receipts");
    const receipts: Receipt[] = [];
    for (const name of names) {
      await waitFor(`the receipt of ${name}`, () => this.hasReceipt(attacker, name), patienceMs);
      receipts.push(parseReceipt(await readFile(join(folder, receiptName(name)), "utf8")));
    }
    return receipts;
  }

  async uploadUntilReceipts(attacker: Attacker, files: readonly StopFile[]): Promise<void> {
    await this.upload(attacker, files);
    await this.receipts(
      attacker,
      files.map(({ name }) => name),
    );
  }

  /** A number that no other input of this run has. */
  next(): number {
    this.#uploads += 1;
    return this.#uploads;
  }

  /** One request, without a time-out of its own but the longest. */
  ask(attacker: Attacker, path: string, asking: Asking = {}): Promise<HttpAnswer> {
    const { body, type = "application/json", userName = attacker.userName } = asking;
    const { password = this.site.password } = asking;
    const options = {
      method: body === undefined ? "GET" : "POST",
      localAddress: hostileAddress,
      auth: `${userName}:${password}`,
      headers: body === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) },
      timeout: patienceMs,
      agent: false as const,
    };
    return new Promise((resolve, reject) => {
      const asked = request(`${this.site.http}${path}/${attacker.companyCode}`, options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      });
      asked.on("error", reject).end(body);
    });
  }

  /** A connection from one of many addresses, which nobody reads from unless the caller does. */
  connect(port: number, nth = 0): Socket {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.9.${2 + (nth % 200)}` });
    socket.on("error", () => undefined);
    this.#sockets.add(socket);
    return socket;
  }

  get httpPort(): number {
    return Number(new URL(this.site.http).port);
  }

  authorization({ userName }: Attacker): string {
    return `Basic ${Buffer.from(`${userName}:${this.site.password}`).toString("base64")}`;
  }

  /** A signed-in SSH connection; its channel is the caller's. */
  async signedIn({ userName }: Attacker): Promise<ssh2.Client> {
    const client = new ssh2.Client();
    client.on("error", () => undefined);
    const ready = new Promise<void>((resolve, reject) => client.on("ready", resolve).on("error", reject));
    const sock = this.connect(this.site.sftpPort);
    client.connect({ sock, username: userName, password: this.site.password });
    await ready;
    return client;
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async end(): Promise<void> {
    this.hangUp();
    await this.share?.end();
    await this.site.end();
  }
}
