/** A client that sends whatever bytes a test wants over a real SSH connection. */
import { once } from "node:events";
import ssh2, { type Client, type ClientChannel } from "ssh2";
import { PacketReader } from "../packet-reader.ts";
import { packetType } from "../wire.ts";
import { knownUser } from "./fake-sign-in.ts";
import type { TestServer } from "./start-server.ts";

export type Field = number | string | Buffer | bigint;

/** Numbers become uint32, bigints uint64, text and bytes strings with their length. */
export function packetOf(type: number, ...fields: readonly Field[]): Buffer {
  const parts = fields.map((field) => {
    if (typeof field === "bigint") {
      const wide = Buffer.alloc(8);
      wide.writeBigUInt64BE(field);
      return wide;
    }
    const bytes = typeof field === "number" ? Buffer.alloc(4) : Buffer.from(field);
    if (typeof field !== "number") return Buffer.concat([uint32(bytes.length), bytes]);
    bytes.writeUInt32BE(field);
    return bytes;
  });
  const body = Buffer.concat([Buffer.from([type]), ...parts]);
  return Buffer.concat([uint32(body.length), body]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export interface RawReply {
  readonly type: number;
  readonly id: number;
  /** What follows the request id. */
  readonly body: Buffer;
}

export function statusOf(reply: RawReply): { code: number; text: string } {
  if (reply.type !== packetType.status) throw new Error(`reply of type ${reply.type} is no status`);
  return { code: reply.body.readUInt32BE(0), text: textAt(reply.body, 4) };
}

function textAt(body: Buffer, at: number): string {
  return body.toString("utf8", at + 4, at + 4 + body.readUInt32BE(at));
}

export function handleOf(reply: RawReply): Buffer {
  if (reply.type !== packetType.handle) throw new Error(`no handle: ${statusOf(reply).text}`);
  return reply.body.subarray(4);
}

export class RawClient {
  readonly client: Client;
  readonly channel: ClientChannel;
  /** Every reply in the order it came. */
  readonly replies: RawReply[] = [];
  readonly #reader = new PacketReader();
  readonly #waiting = new Map<number, (reply: RawReply) => void>();
  #nextId = 1;

  constructor(client: Client, channel: ClientChannel) {
    this.client = client;
    this.channel = channel;
    channel.on("data", (chunk: Buffer) => this.#reader.push(chunk, (packet) => this.#take(packet)));
    channel.on("error", () => undefined);
  }

  #take(packet: Buffer): void {
    const reply = { type: packet.readUInt8(0), id: packet.readUInt32BE(1), body: packet.subarray(5) };
    this.replies.push(reply);
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }

  /** Sends a request and gives its reply. */
  request(type: number, ...fields: readonly Field[]): Promise<RawReply> {
    const id = this.#nextId++;
    const reply = new Promise<RawReply>((resolve) => this.#waiting.set(id, resolve));
    this.channel.write(packetOf(type, id, ...fields));
    return reply;
  }

  async openFile(path: string | Buffer, flags: number): Promise<Buffer> {
    return handleOf(await this.request(packetType.open, path, flags, 0));
  }

  send(bytes: Buffer): void {
    this.channel.write(bytes);
  }

  async closed(): Promise<void> {
    await once(this.channel, "close");
  }

  end(): void {
    this.client.end();
  }
}

export async function connectClient(server: TestServer): Promise<Client> {
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  const { port } = server.endpoint;
  client.connect({ host: "127.0.0.1", port, username: knownUser.name, password: knownUser.password });
  await once(client, "ready");
  // Small requests would wait for the answer to the packet before them, 40 ms each.
  client.setNoDelay();
  return client;
}

/** Signs in and opens the SFTP subsystem without a library between the test and the packets. */
export async function connectRaw(server: TestServer, options = { sendsInit: true }): Promise<RawClient> {
  const client = await connectClient(server);
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.subsys("sftp", (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  const raw = new RawClient(client, channel);
  if (options.sendsInit) {
    raw.send(packetOf(packetType.init, 3));
    while (raw.replies.length === 0) await once(channel, "data");
    raw.replies.length = 0;
  }
  return raw;
}

/** Proves that the process and its loop are alive: a new client signs in and gets an answer. */
export async function assertAlive(server: TestServer): Promise<void> {
  const raw = await connectRaw(server);
  const { type } = await raw.request(packetType.realpath, ".");
  if (type !== packetType.name) throw new Error(`a new client was answered with ${type}`);
  raw.end();
}

/** Unlike `once`, does not mind the errors before it. */
export function closed(client: Client): Promise<void> {
  return new Promise((resolve) => client.on("close", () => resolve()));
}
