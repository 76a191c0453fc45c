/** Questions to whoever sits at the terminal. */
import { createInterface } from "node:readline/promises";

/** Gives the answer without the blanks around it; none when the terminal is closed. */
export function askOn(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): (question: string) => Promise<string> {
  return async (question) => {
    const lines = createInterface({ input, output });
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    try {
      return (await Promise.race([lines.question(question), closed])).trim();
    } finally {
      lines.close();
    }
  };
}
