/**
 * Text from outside before it is shown: characters that a terminal obeys, that are invisible, or that change the
 * direction of reading are shown as escapes, so that no name looks like another, or hides the text beside it.
 */

/** Control characters, all that is invisible by itself, separators of lines, and halves of characters. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** For people: `\x1b`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(hidden, escapeOf);
}

const beyondAscii = /[^\p{ASCII}]/u;

/** A line of JSON with the same meaning in which nothing is hidden: such characters are written as JSON escapes. */
export function visibleJson(line: string): string {
  // Nearly all lines are ASCII, whose control characters JSON has escaped itself.
  if (!beyondAscii.test(line)) return line;
  return line.replace(hidden, (character) => {
    if (character === "\n") return character;
    return Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(16).padStart(4, "0");
      return `\\u${unit}`;
    }).join("");
  });
}
