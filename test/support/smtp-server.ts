/** An SMTP server on loopback that keeps what it is given, and answers each command as it is told. */
import { createServer, type Server, type Socket } from "node:net";
import * as tls from "node:tls";
import type { Certificate } from "./certificates.ts";
import { listenFree } from "./listen-free.ts";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came: header, empty line, body; without the dots that were doubled. */
  readonly source: string;
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
}

/** What is answered: a line, nothing (it hangs), or the connection is cut. */
export type SmtpAnswer = string | "hang" | "cut";

/** For a command in upper case: `greeting`, `EHLO`, `STARTTLS`, `AUTH`, `MAIL FROM`, `RCPT TO`, `DATA`, `end`, `RSET`. */
export type SmtpScript = (command: string, line: string) => SmtpAnswer | undefined;

export interface SmtpServerOptions {
  /** Of STARTTLS, or of the whole connection. */
  readonly certificate?: Certificate;
  readonly isImplicit?: boolean;
  /** Then nobody else may send. */
  readonly account?: { readonly user: string; readonly password: string };
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** All commands, in their order. */
  readonly commands: string[];
  connections(): number;
  script(script: SmtpScript): void;
  end(): Promise<void>;
}

interface Shared {
  readonly options: SmtpServerOptions;
  readonly mails: ReceivedMail[];
  readonly commands: string[];
  readonly sockets: Set<Socket>;
  script: SmtpScript;
}

function commandOf(line: string): string {
  const upper = line.toUpperCase();
  const two = ["MAIL FROM", "RCPT TO"].find((command) => upper.startsWith(command));
  return two ?? upper.split(" ")[0] ?? "";
}

function addressIn(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? "";
}

class Session {
  readonly #shared: Shared;
  #socket: Socket;
  #isEncrypted: boolean;
  #text = "";
  #isData = false;
  #from = "";
  #to: string[] = [];
  #user: string | undefined;

  constructor(shared: Shared, socket: Socket, isEncrypted: boolean) {
    this.#shared = shared;
    this.#socket = socket;
    this.#isEncrypted = isEncrypted;
    this.#listen();
    this.#answer("greeting", "", "220 test ESMTP");
  }

  #listen(): void {
    this.#socket.setEncoding("latin1");
    this.#socket.on("error", () => undefined); // the client has gone
    this.#socket.on("data", (part: string) => {
      this.#text += part;
      this.#read();
    });
  }

  #read(): void {
    for (;;) {
      const end = this.#isData ? this.#text.indexOf("\r\n.\r\n") : this.#text.indexOf("\r\n");
      if (end === -1) return;
      const piece = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + (this.#isData ? 5 : 2));
      if (this.#isData) this.#finish(piece);
      else this.#command(piece);
    }
  }

  /** Whether the usual went out: not when the script says something else. */
  #answer(command: string, line: string, usual: string): boolean {
    const said = this.#shared.script(command, line);
    if (said === "hang") return false;
    if (said === "cut") {
      this.#socket.destroy();
      return false;
    }
    this.#socket.write(`${said ?? usual}\r\n`);
    return said === undefined;
  }

  #finish(piece: string): void {
    this.#isData = false;
    const source = piece.replaceAll("\r\n..", "\r\n.");
    const mail = {
      from: this.#from,
      to: this.#to,
      source,
      isEncrypted: this.#isEncrypted,
      user: this.#user,
    };
    // Taken before it is answered, as servers do: the answer may be lost.
    const said = this.#shared.script("taken", source);
    if (said === undefined) this.#shared.mails.push(mail);
    this.#to = [];
    this.#answer("end", source, said ?? "250 queued");
  }

  #command(line: string): void {
    const command = commandOf(line);
    this.#shared.commands.push(command);
    const { account, certificate } = this.#shared.options;
    switch (command) {
      case "EHLO": {
        const offers = [
          ...(certificate !== undefined && !this.#isEncrypted ? ["STARTTLS"] : []),
          ...(account === undefined ? [] : ["AUTH PLAIN"]),
          "8BITMIME",
        ];
        this.#answer(
          command,
          line,
          ["250-test", ...offers.map((o) => `250-${o}`), "250 SIZE 1000000"].join("\r\n"),
        );
        return;
      }
      case "STARTTLS":
        if (certificate === undefined) this.#answer(command, line, "502 not here");
        else if (this.#answer(command, line, "220 go on")) this.#encrypt();
        return;
      case "AUTH":
        this.#signIn(line);
        return;
      case "MAIL FROM":
        this.#from = addressIn(line);
        if (account !== undefined && this.#user === undefined) this.#answer(command, line, "530 sign in");
        else this.#answer(command, line, "250 ok");
        return;
      case "RCPT TO":
        if (this.#answer(command, line, "250 ok")) this.#to.push(addressIn(line));
        return;
      case "DATA":
        if (this.#answer(command, line, "354 go on")) this.#isData = true;
        return;
      case "QUIT":
        this.#socket.end("221 bye\r\n");
        return;
      default:
        this.#answer(command, line, "250 ok");
    }
  }

  #signIn(line: string): void {
    const { account } = this.#shared.options;
    const [, user, password] = Buffer.from(line.split(" ")[2] ?? "", "base64")
      .toString()
      .split("\0");
    const isRight = account?.user === user && account?.password === password;
    if (this.#answer("AUTH", line, isRight ? "235 welcome" : "535 5.7.8 wrong password") && isRight)
      this.#user = user;
  }

  #encrypt(): void {
    const { certificate } = this.#shared.options;
    if (certificate === undefined) return;
    this.#socket.removeAllListeners("data");
    const { certificate: cert, key } = certificate;
    this.#socket = new tls.TLSSocket(this.#socket, {
      isServer: true,
      secureContext: tls.createSecureContext({ cert, key }),
    });
    this.#isEncrypted = true;
    this.#text = "";
    this.#listen();
  }
}

function makeServer(shared: Shared): Server {
  const { certificate, isImplicit = false } = shared.options;
  const accept = (isEncrypted: boolean) => (socket: Socket) => {
    new Session(shared, socket, isEncrypted);
  };
  if (!isImplicit || certificate === undefined) return createServer(accept(false));
  const { certificate: cert, key } = certificate;
  return tls.createServer({ cert, key }, accept(true)).on("tlsClientError", () => undefined);
}

export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  const shared: Shared = {
    ...{ options, mails: [], commands: [], sockets: new Set<Socket>() },
    script: () => undefined,
  };
  let connections = 0;
  const server = makeServer(shared);
  server.on("connection", (socket: Socket) => {
    connections += 1;
    shared.sockets.add(socket);
    socket.on("error", () => undefined); // the client has gone
    socket.on("close", () => shared.sockets.delete(socket));
  });
  const port = await listenFree(server);
  return {
    port,
    mails: shared.mails,
    commands: shared.commands,
    connections: () => connections,
    script: (script) => {
      shared.script = script;
    },
    end: async () => {
      for (const socket of shared.sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The value of a header field, unfolded; undefined when it is not there. */
export function headerOf({ source }: ReceivedMail, name: string): string | undefined {
  const [head = ""] = source.split("\r\n\r\n");
  const unfolded = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  const found = unfolded.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return found?.slice(name.length + 1).trim();
}
