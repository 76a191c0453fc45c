/** A text in lines of at most `width` characters, broken at its blanks. A longer word has a line of its own. */
export function wrapped(description: string, width: number): string[] {
  const lines = [""];
  for (const word of description.split(" ")) {
    const current = lines.at(-1) ?? "";
    if (current !== "" && current.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = current === "" ? word : `${current} ${word}`;
  }
  return lines;
}
