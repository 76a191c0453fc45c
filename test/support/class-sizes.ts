/**
 * The classes in a text of TypeScript, with their sizes. The formatter puts the head and the end of a class at one
 * indentation, and the beginning of each of its members two columns further in, so that no parser is needed.
 */

export interface ClassSize {
  readonly name: string;
  /** From its head to its end. */
  readonly lines: number;
  /** Names of its private fields and methods; the accessors of one name count once. */
  readonly privateMembers: readonly string[];
}

const head = /^( *)(?:export )?(?:abstract )?class (\w+)/;
const keywords = "(?:static |override |readonly |abstract |async |accessor |get |set |\\*)*";
const privateMember = new RegExp(`^(?:${keywords}#(\\w+)|private ${keywords}(\\w+))`);

function privateMembersIn(lines: readonly string[], indent: string): string[] {
  const names = lines.flatMap((line) => {
    if (!line.startsWith(indent)) return [];
    const [, hash, word] = privateMember.exec(line.slice(indent.length)) ?? [];
    return hash ?? word ?? [];
  });
  return [...new Set(names)];
}

/** Throws when a class has no end, as in a text that is not formatted. */
export function classSizesIn(text: string): ClassSize[] {
  const lines = text.split("\n");
  const sizes: ClassSize[] = [];
  for (const [from, line] of lines.entries()) {
    const [, indent = "", name] = head.exec(line) ?? [];
    if (name === undefined) continue;
    // A class without members ends in the line in which it begins.
    const end = line.endsWith("}") ? from : lines.indexOf(`${indent}}`, from);
    if (end === -1) throw new Error(`the end of the class ${name} is not found`);
    const privateMembers = privateMembersIn(lines.slice(from + 1, end), `${indent}  `);
    sizes.push({ name, lines: end - from + 1, privateMembers });
  }
  return sizes;
}
