import { expect, test } from "vitest";
import { createLogger } from "./log.ts";
import { RecentTroubles } from "./recent-troubles.ts";

function logging() {
  const troubles = new RecentTroubles();
  const lines: string[] = [];
  const destination = troubles.listenTo({ write: (line: string) => void lines.push(line) });
  return { troubles, lines, log: createLogger({ level: "info", destination }) };
}

test("warnings and errors with the same words are told once, with their number, the newest first", () => {
  const { troubles, log, lines } = logging();
  log.warn({ company: "ACME" }, "the share does not answer");
  log.error({ target: "tms" }, "the target refuses");
  log.info("a file was decided");
  log.warn({ company: "OTHER" }, "the share does not answer");
  expect(troubles.all).toMatchObject([
    { level: "warn", message: "the share does not answer", count: 2, about: "company: OTHER" },
    { level: "error", message: "the target refuses", count: 1, about: "target: tms" },
  ]);
  expect(lines).toHaveLength(4);
});

test("nothing of the content of files is kept", () => {
  const { troubles, log } = logging();
  log.warn({ file: "secret.xml", first: "the Stop 4711 has no date", company: "ACME" }, "file refused");
  expect(JSON.stringify(troubles.all)).not.toMatch(/secret|4711/);
});

test("it is bounded", () => {
  const { troubles, log } = logging();
  for (let number = 0; number < 200; number += 1) log.error(`fault ${number} ${"x".repeat(1_000)}`);
  expect(troubles.all).toHaveLength(50);
  expect(troubles.all[0]?.message.length).toBe(300);
  expect(troubles.all[0]?.message).toContain("fault 199");
});
