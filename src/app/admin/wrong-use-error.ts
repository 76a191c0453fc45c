/** What an administrator asked for cannot be done as it was asked; the message says what to do instead. Exit code 2. */
export class WrongUseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WrongUseError";
  }
}
