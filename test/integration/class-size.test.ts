import { describe, expect, it } from "vitest";
import { classSizesIn } from "../support/class-sizes.ts";
import { textOf } from "../support/markdown.ts";
import { filesIn, isProduction } from "../support/source-files.ts";

const maxLines = 250;
const maxPrivateMembers = 15;

const classes = filesIn("src")
  .filter(isProduction)
  .sort()
  .flatMap((file) => classSizesIn(textOf(file)).map((size) => ({ id: `${file} ${size.name}`, ...size })));

describe("the classes of the program", () => {
  it("have at most 250 lines and 15 private members", () => {
    const found = classes.filter(
      ({ lines, privateMembers }) => lines > maxLines || privateMembers.length > maxPrivateMembers,
    );
    const shown = found.map(
      ({ id, lines, privateMembers }) => `${id}: ${lines} lines, ${privateMembers.length} private`,
    );
    expect(shown).toEqual([]);
  });
});

describe("the size of a class", () => {
  it("counts private fields, methods and accessors, and nothing that is public or of another class", () => {
    const text = `
export class Outer<T> extends Base {
  readonly open = 1;
  readonly #field: string;
  private readonly word = 2;
  static #shared = 0;
  get #both(): number {
    return this.#field.length;
  }
  set #both(value: number) {
    class Inner {
      #own = value;
    }
  }
  async #method(): Promise<void> {
    #notAMember in this;
  }
  *#walk(): Generator<number> {}
  method(): void {}
}

class Empty extends Error {}
`;
    expect(classSizesIn(text)).toEqual([
      { name: "Outer", lines: 19, privateMembers: ["field", "word", "shared", "both", "method", "walk"] },
      { name: "Inner", lines: 3, privateMembers: ["own"] },
      { name: "Empty", lines: 1, privateMembers: [] },
    ]);
  });

  it("is not guessed for a text that is not formatted", () => {
    expect(() => classSizesIn("class One {\n  #a = 1; }")).toThrow("the end of the class One is not found");
  });

  it("is read from every file in which there is a class", () => {
    const heads = classes.filter(({ name }) => name === "ControlConnection" || name === "Connection");
    expect(heads).toHaveLength(2);
    expect(classes.length).toBeGreaterThan(100);
  });
});
