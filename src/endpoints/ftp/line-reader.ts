/**
 * Cuts the bytes of a control connection into command lines, and removes Telnet's control sequences, which clients put
 * before ABOR. A line ends with LF, and one CR before it belongs to the end.
 */
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const interpretAsCommand = 0xff;
/** WILL, WONT, DO, DONT: one more byte belongs to them. */
const firstNegotiation = 0xfb;
/** The first code that means something behind IAC. */
const firstCommand = 0xf0;

export class LineTooLong extends Error {
  constructor(maxBytes: number) {
    super(`the line is longer than ${maxBytes} bytes`);
    this.name = "LineTooLong";
  }
}

export class LineReader {
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #telnet: "text" | "command" | "option" = "text";

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that are complete with this chunk, without their ends. Bytes that are not UTF-8 become U+FFFD, which no
   * name may have. Throws `LineTooLong`; the connection cannot go on then.
   */
  push(chunk: Buffer): string[] {
    const bytes = Buffer.concat([this.#rest, this.#withoutTelnet(chunk)]);
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      lines.push(this.#lineOf(bytes.subarray(start, end)));
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    this.#assertFits(this.#rest);
    return lines;
  }

  /** Drops an unfinished line; true when there was one. */
  clear(): boolean {
    const hadSome = this.#rest.length > 0;
    this.#rest = Buffer.alloc(0);
    this.#telnet = "text";
    return hadSome;
  }

  #lineOf(bytes: Buffer): string {
    this.#assertFits(bytes);
    return (bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes).toString("utf8");
  }

  #assertFits(bytes: Buffer): void {
    if (bytes.length > this.#maxBytes) throw new LineTooLong(this.#maxBytes);
  }

  #withoutTelnet(chunk: Buffer): Buffer {
    if (this.#telnet === "text" && !chunk.includes(interpretAsCommand)) return chunk;
    return Buffer.from([...chunk].filter((byte) => this.#isText(byte)));
  }

  #isText(byte: number): boolean {
    const before = this.#telnet;
    if (before === "text") {
      this.#telnet = byte === interpretAsCommand ? "command" : "text";
      return byte !== interpretAsCommand;
    }
    const isNegotiation = before === "command" && byte >= firstNegotiation && byte !== interpretAsCommand;
    this.#telnet = isNegotiation ? "option" : "text";
    // The mark behind IAC often travels apart from the stream, as urgent data: then this is a letter of the next command.
    return before === "command" && (byte < firstCommand || byte === interpretAsCommand);
  }
}
