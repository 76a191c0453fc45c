/** What is wrong with a data connection, with the code of the reply; the message is safe to show to the client. */
export class DataFault extends Error {
  readonly code: 425 | 426 | 522;

  constructor(code: 425 | 426 | 522, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DataFault";
    this.code = code;
  }
}
