/** The documents of the project, as tests read them. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const projectFolder = resolve(import.meta.dirname, "../..");

/** A document by its path in the project. */
export function textOf(name: string): string {
  return readFileSync(join(projectFolder, name), "utf8");
}

/** A fenced block of a document. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks in their order. */
export function blocksIn(name: string): Block[] {
  return [...textOf(name).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** The text without fenced blocks: links and code spans stand here. */
export function proseOf(name: string): string {
  return textOf(name).replaceAll(/^```.*?^```$/gms, "");
}

/** Code spans outside of fenced blocks. */
export function spansIn(name: string): string[] {
  return [...proseOf(name).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
}
