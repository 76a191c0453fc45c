import { describe, expect, test } from "vitest";
import { formatSize, parseSize, sizePattern } from "./size.ts";

describe("a size as text", () => {
  test.each([
    ["0B", 0],
    ["100b", 100],
    ["1kB", 1_000],
    ["2GB", 2_000_000_000],
    ["50MB", 50_000_000],
    ["1 GiB", 2 ** 30],
    ["1.5GiB", 1.5 * 2 ** 30],
    ["1.0001kB", 1_000],
    ["3tib", 3 * 2 ** 40],
  ])("%s is %d bytes", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
    expect(text).toMatch(new RegExp(sizePattern));
  });

  test.each(["", "5", "5G", "5 g", "GB", "-1GB", "1e3MB", "1,5GB", "5  GB", "5GBs", " 5GB", "5PB"])(
    "`%s` is not taken",
    (text) => {
      expect(parseSize(text)).toBeUndefined();
      expect(text).not.toMatch(new RegExp(sizePattern));
    },
  );

  test.each([0, 1, 999, 1_000, 1_024, 20_000_000, 50 * 2 ** 20, 2 ** 30, 2_000_000_000, 1_234_567])(
    "%d is shown as a text that reads back as the same",
    (bytes) => {
      expect(parseSize(formatSize(bytes))).toBe(bytes);
    },
  );
});
