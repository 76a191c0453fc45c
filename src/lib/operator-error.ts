/** What only an administrator can repair. The message says what is wrong and what to do; a stack would hide it. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "OperatorError";
  }
}
