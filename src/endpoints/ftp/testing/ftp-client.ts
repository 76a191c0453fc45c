/** A client without manners: sends what a test tells it to, and tells what came back. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { knownUser } from "../../sftp/testing/fake-sign-in.ts";

/** Resolves when the socket is closed, however that came. */
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

export interface FtpAnswer {
  readonly code: number;
  readonly text: string;
}

/** Cuts what came into replies; a reply ends with a line of code and space. */
function repliesIn(lines: string[]): FtpAnswer[] {
  const found: FtpAnswer[] = [];
  let start = 0;
  for (const [at, line] of lines.entries()) {
    if (!/^\d{3} /.test(line)) continue;
    const text = lines.slice(start, at + 1).join("\n");
    found.push({ code: Number(line.slice(0, 3)), text });
    start = at + 1;
  }
  lines.splice(0, start);
  return found;
}

export class FtpTestClient {
  socket: Socket | TLSSocket;
  readonly answers: FtpAnswer[] = [];
  readonly #port: number;
  readonly #lines: string[] = [];
  #rest = "";
  #isClosed = false;
  #told: () => void = () => undefined;
  session: Buffer | undefined;

  constructor(socket: Socket, port: number) {
    this.socket = socket;
    this.#port = port;
    this.#listen(socket);
  }

  static async connect(port: number): Promise<FtpTestClient> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const client = new FtpTestClient(socket, port);
    await client.answer();
    return client;
  }

  #listen(socket: Socket | TLSSocket): void {
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const parts = (this.#rest + chunk.toString("utf8")).split("\r\n");
      this.#rest = parts.pop() ?? "";
      this.#lines.push(...parts);
      this.answers.push(...repliesIn(this.#lines));
      this.#told();
    });
    socket.on("close", () => {
      this.#isClosed = true;
      this.#told();
    });
  }

  /** The next reply. Rejects when the connection closes first. */
  async answer(): Promise<FtpAnswer> {
    for (;;) {
      const answer = this.answers.shift();
      if (answer !== undefined) return answer;
      if (this.#isClosed) throw new Error("the server closed the connection");
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  /** Resolves with the replies that still came, when the connection is closed. */
  async closed(): Promise<readonly FtpAnswer[]> {
    if (!this.#isClosed) await closeOf(this.socket);
    return this.answers;
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** Sends a command and gives its reply. */
  async command(line: string): Promise<FtpAnswer> {
    this.send(`${line}\r\n`);
    return await this.answer();
  }

  /** The code of the reply. */
  async code(line: string): Promise<number> {
    return (await this.command(line)).code;
  }

  async signIn(name: string = knownUser.name, password: string = knownUser.password): Promise<FtpAnswer> {
    await this.command(`USER ${name}`);
    return await this.command(`PASS ${password}`);
  }

  /** AUTH TLS; data connections follow with PROT P. */
  async startTls(options: ConnectionOptions = {}): Promise<void> {
    const { code, text } = await this.command("AUTH TLS");
    if (code !== 234) throw new Error(text);
    const plain = this.socket;
    plain.removeAllListeners("data");
    plain.removeAllListeners("close");
    const secured = connectTls({ socket: plain, rejectUnauthorized: false, ...options });
    secured.on("session", (session) => {
      this.session = session;
    });
    this.socket = secured;
    this.#listen(secured);
    await once(secured, "secureConnect");
  }

  async protect(): Promise<void> {
    await this.command("PBSZ 0");
    await this.command("PROT P");
  }

  /** EPSV, and the port. */
  async passive(): Promise<number> {
    const { text } = await this.command("EPSV");
    const port = /\|\|\|(\d+)\|/.exec(text)?.[1];
    if (port === undefined) throw new Error(text);
    return Number(port);
  }

  /** EPSV and a plain connection to the port. */
  async data(): Promise<Socket> {
    const socket = connect({ port: await this.passive(), host: "127.0.0.1", noDelay: true });
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }

  /** The connection, with TLS begun over it. To be called when the server has answered 150. */
  secure(socket: Socket, options: ConnectionOptions = {}): TLSSocket {
    const secured = connectTls({ socket, rejectUnauthorized: false, ...options });
    secured.on("error", () => undefined);
    return secured;
  }

  /** Uploads over a plain data connection; the last reply. */
  async put(path: string, content: string | Buffer, verb = "STOR"): Promise<FtpAnswer> {
    const socket = await this.data();
    const begun = await this.command(`${verb} ${path}`);
    if (begun.code !== 150) return begun;
    socket.end(content);
    return await this.answer();
  }

  /** Downloads or lists over a plain data connection. */
  async get(command: string): Promise<{ readonly answer: FtpAnswer; readonly content: string }> {
    const socket = await this.data();
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    const over = closeOf(socket);
    const begun = await this.command(command);
    if (begun.code !== 150) {
      socket.destroy();
      return { answer: begun, content: "" };
    }
    const answer = await this.answer();
    socket.end();
    await over;
    return { answer, content: Buffer.concat(chunks).toString("utf8") };
  }

  get port(): number {
    return this.#port;
  }

  end(): void {
    this.socket.destroy();
  }
}
