/**
 * A small FTP server whose replies a test can change: for what vsftpd does not do. It keeps its files in memory, and its
 * renames overwrite, as those of many servers do.
 */
import { createServer, type Server, type Socket } from "node:net";
import { listenFree } from "./listen-free.ts";

export interface ScriptedFtp {
  readonly port: number;
  readonly files: Map<string, Buffer>;
  /** Every command that came, without its password. */
  readonly commands: string[];
  /** Replies in place of the usual ones, by command with or without its argument; `silent` for none. */
  readonly replies: Map<string, string>;
  /** What LIST gives, piece by piece; without it, lines in the form of `ls -l` for the files. */
  listing: (() => Iterable<string>) | undefined;
  /** What RETR gives instead of a file's bytes, piece by piece; undefined for the bytes. */
  content: (name: string) => Iterable<Buffer> | undefined;
  /** What MDTM tells of a file, `YYYYMMDDHHMMSS`; without one it is not known. */
  readonly times: Map<string, string>;
  /** Of what is stored; the rest is dropped without a word. */
  maxBytes: number;
  /** Called before a command is answered. */
  onCommand: (command: string, argument: string) => void;
  end(): Promise<void>;
}

interface Session {
  readonly control: Socket;
  data: Promise<Socket> | undefined;
  dataServer: Server | undefined;
  renameFrom: string;
}

async function openData(session: Session): Promise<string> {
  session.dataServer?.close();
  const server = createServer();
  session.dataServer = server;
  session.data = new Promise((resolve) =>
    server.once("connection", (socket: Socket) => resolve(socket.on("error", () => undefined))),
  );
  return `229 Entering Extended Passive Mode (|||${await listenFree(server)}|)`;
}

async function receive(session: Session): Promise<Buffer> {
  const parts: Buffer[] = [];
  const socket = await session.data;
  if (socket !== undefined) for await (const part of socket) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

const fixed: Readonly<Record<string, string>> = {
  USER: "331 password?",
  PASS: "230 welcome",
  FEAT: "211 none",
  TYPE: "200 ok",
  STRU: "200 ok",
  OPTS: "200 ok",
  NOOP: "200 ok",
  PWD: '257 "/" is here',
  CWD: "250 ok",
  MKD: "257 made",
  QUIT: "221 bye",
};

function* lines(files: ReadonlyMap<string, Buffer>): Generator<string> {
  for (const [name, { length }] of files) yield lineOf(name, length);
}

/** A line of a listing. */
export function lineOf(name: string, size: number, kind = "-"): string {
  return `${kind}rw-r--r--    1 1000     1000     ${String(size).padStart(8)} Nov 05 08:00 ${name}\r\n`;
}

/** No faster than the other side takes it, and only as long as it does. */
async function give(data: Socket | undefined, pieces: Iterable<string | Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (data === undefined || data.destroyed) return;
    if (!data.write(piece)) {
      await new Promise<void>((resolve) => {
        const end = () => {
          data.off("drain", end).off("close", end);
          resolve();
        };
        data.on("drain", end).on("close", end);
      });
    }
  }
  data?.end();
}

function piecesOf(server: ScriptedFtp, command: string, name: string): Iterable<string | Buffer> {
  if (command === "LIST") return server.listing?.() ?? lines(server.files);
  return server.content(name) ?? [server.files.get(name) ?? Buffer.alloc(0)];
}

async function transfer(
  server: ScriptedFtp,
  session: Session,
  [command, name]: readonly [string, string],
): Promise<string> {
  session.control.write("150 go on\r\n");
  if (command === "STOR") server.files.set(name, (await receive(session)).subarray(0, server.maxBytes));
  else await give(await session.data, piecesOf(server, command, name));
  session.dataServer?.close();
  return "226 done";
}

async function replyTo(
  server: ScriptedFtp,
  session: Session,
  [command, argument]: readonly [string, string],
): Promise<string> {
  const { files } = server;
  if (command === "EPSV") return await openData(session);
  if (command === "STOR" || command === "LIST") return await transfer(server, session, [command, argument]);
  if (fixed[command] !== undefined) return fixed[command];
  const file = files.get(command === "RNTO" ? session.renameFrom : argument);
  if (file === undefined) return "550 No such file";
  if (command === "RETR") return await transfer(server, session, [command, argument]);
  if (command === "SIZE") return `213 ${file.length}`;
  if (command === "MDTM")
    return server.times.has(argument) ? `213 ${server.times.get(argument)}` : "500 what?";
  if (command === "DELE") return files.delete(argument) ? "250 gone" : "550 No such file";
  if (command === "RNFR") session.renameFrom = argument;
  if (command === "RNTO") {
    files.set(argument, file);
    files.delete(session.renameFrom);
  }
  return command === "RNFR" ? "350 and to?" : "250 renamed";
}

export async function startScriptedFtp(): Promise<ScriptedFtp> {
  const sockets = new Set<Socket>();
  const server = createServer((control) => {
    sockets.add(control);
    const session: Session = { control, data: undefined, dataServer: undefined, renameFrom: "" };
    control.on("error", () => undefined).on("close", () => session.dataServer?.close());
    control.write(`${scripted.replies.get("greeting") ?? "220 ready"}\r\n`);
    let line = "";
    control.on("data", (part: Buffer) => {
      line += part.toString();
      for (let end = line.indexOf("\r\n"); end >= 0; end = line.indexOf("\r\n")) {
        const [command = "", ...rest] = line.slice(0, end).split(" ");
        line = line.slice(end + 2);
        void answer(session, command, rest.join(" "));
      }
    });
  });
  const answer = async (session: Session, command: string, argument: string): Promise<void> => {
    scripted.commands.push(command === "PASS" ? command : `${command} ${argument}`.trim());
    scripted.onCommand(command, argument);
    const { replies } = scripted;
    const scriptedReply = replies.get(`${command} ${argument}`) ?? replies.get(command);
    const text = scriptedReply ?? (await replyTo(scripted, session, [command, argument]));
    if (text !== "silent") session.control.write(`${text}\r\n`);
  };
  const scripted: ScriptedFtp = {
    port: await listenFree(server),
    files: new Map(),
    commands: [],
    replies: new Map(),
    listing: undefined,
    content: () => undefined,
    times: new Map(),
    maxBytes: Number.POSITIVE_INFINITY,
    onCommand: () => undefined,
    end: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return scripted;
}
