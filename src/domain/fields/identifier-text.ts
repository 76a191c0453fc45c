/**
 * The characters of the numbers and codes by which stops, loads, orders, customers and partners are found. They are
 * parts of URLs, file names and log lines: nothing in them may be lost or read as a path on the way.
 */

/** The form of such a number, for messages. */
export const identifierForm =
  "no /, \\ or control characters, no blanks at its ends, and not of a dot or two alone";

/** The same as a regular expression; of a number that is missing it says nothing. */
export const identifierPattern = "^(?!\\.{1,2}$)(?!\\s)[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]*(?<!\\s)$";

const identifierExpression = new RegExp(identifierPattern);

/** Whether a text can be such a number. */
export function isIdentifier(text: string): boolean {
  return identifierExpression.test(text);
}
