import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { DropgateError } from "../lib/errors.ts";
import { createLogger } from "../lib/logs/log.ts";
import type { Integration } from "./integration.ts";
import { nodeOptions } from "./mapping-process.ts";
import { Integrations, type IntegrationsOptions } from "./integrations.ts";
import { waitToPass } from "../../test/support/wait-to-pass.ts";

const log = createLogger({ level: "silent" });
const made: Integrations[] = [];

afterEach(async () => {
  for (const integrations of made.splice(0)) await integrations.stop(AbortSignal.abort());
});

function integration(
  name: string,
  expression: string,
  changes: Partial<Integration> = {},
): [string, Integration] {
  // More than a slow machine needs to fill the memory of a process.
  const limits = { timeoutMs: 60_000, maxOutputBytes: 100_000, companies: undefined };
  return [name, { name, expression, file: `${name}.jsonata`, input: "json", ...limits, ...changes }];
}

async function started(
  list: readonly [string, Integration][],
  options: Partial<IntegrationsOptions> = {},
): Promise<Integrations> {
  const integrations = new Integrations({ integrations: new Map(list), log, ...options });
  made.push(integrations);
  await integrations.start(new AbortController().signal);
  return integrations;
}

interface Sending {
  readonly companyCode?: string;
  readonly body?: unknown;
  readonly bytes?: Buffer;
  readonly signal?: AbortSignal;
}

function map(integrations: Integrations, serviceName: string, sending: Sending = {}): Promise<unknown> {
  const { companyCode = "ACME", body = {}, bytes = Buffer.from(JSON.stringify(body)), signal } = sending;
  const request = { serviceName, companyCode, importKind: "orders", bytes, maxDepth: 32 } as const;
  return integrations.map(request, signal);
}

async function refusal(mapping: Promise<unknown>): Promise<string> {
  const thrown: unknown = await mapping.then(
    (value) => `mapped ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  return thrown instanceof DropgateError ? `${thrown.code}: ${thrown.message}` : String(thrown);
}

const endless = "($f := function($x) { $f($x + 1) }; $f(1))";
/** A look-around: the engine that cannot backtrack does not know it. jsonata cannot look at its clock meanwhile. */
const stuck = "$contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', /^(?=a|b)(a+)+$/)";
const identity = integration("same", "$");

describe("an integration", () => {
  test("makes the document of the body, and knows the company, its own name and the kind of import", async () => {
    const expression = '{ "c": $companyCode, "s": $serviceName, "k": $importKind, "n": $sum(lines.q) }';
    const integrations = await started([integration("erp", expression)]);
    const body = { lines: [{ q: 1 }, { q: 2 }] };
    expect(await map(integrations, "erp", { body })).toEqual({ c: "ACME", s: "erp", k: "orders", n: 3 });
  });

  test("takes XML through the same expression, with $text for elements with and without attributes", async () => {
    const expression =
      '{ "w": [Route.Stop.$text(Weight)], "o": [Route.`#elements`.name], "none": $text(Route.Nothing) }';
    const integrations = await started([integration("planner", expression, { input: "xml" })]);
    const bytes = Buffer.from(
      '<Route><Stop><Weight u="kg">5</Weight></Stop><Note/><Stop><Weight>6</Weight></Stop></Route>',
    );
    expect(await map(integrations, "planner", { bytes })).toEqual({
      w: ["5", "6"],
      o: ["Stop", "Note", "Stop"],
    });
  });

  test("refuses what is no JSON or XML as the imports themselves do", async () => {
    const integrations = await started([identity, integration("x", "$", { input: "xml" })]);
    const send = (name: string, text: string) =>
      refusal(map(integrations, name, { bytes: Buffer.from(text) }));
    expect(await send("same", "{")).toContain("notJson");
    expect(await send("same", '{"a":1,"a":2}')).toContain("twice");
    expect(await send("same", '{"a":340123450000000018}')).toContain("wrongType: a has the number");
    expect(await send("same", `${"[".repeat(40)}${"]".repeat(40)}`)).toContain("tooLarge");
    expect(await send("x", "<a>")).toContain("notWellFormed");
    expect(await send("x", "<!DOCTYPE a><a/>")).toContain("forbiddenXml");
  });

  test("tells where its expression failed", async () => {
    const integrations = await started([integration("erp", '{\n  "n": $uppercase(number)\n}')]);
    expect(await refusal(map(integrations, "erp", { body: { number: 5 } }))).toBe(
      'wrongType: the integration erp cannot map the body: Argument 1 of function "uppercase" does not match function signature (line 2, column 18 of its expression). Correct the body, or tell the operator.',
    );
  });

  test("is unknown to the companies that it is not for, in any case of their codes", async () => {
    const integrations = await started([integration("erp", "1", { companies: ["Acme"] })]);
    expect(await map(integrations, "erp", { companyCode: "ACME" })).toBe(1);
    expect(integrations.find("erp", "OTHER")).toBeUndefined();
    expect(await refusal(map(integrations, "erp", { companyCode: "OTHER" }))).toContain("unknownService");
    expect(await refusal(map(integrations, "toString"))).toContain("unknownService");
  });

  test("can be exchanged while it runs", async () => {
    const integrations = await started([integration("erp", "1")]);
    expect(await map(integrations, "erp")).toBe(1);
    integrations.configure(new Map([integration("erp", "2")]));
    expect(await map(integrations, "erp")).toBe(2);
    integrations.configure(new Map());
    expect(await refusal(map(integrations, "erp"))).toContain("unknownService");
  });
});

describe("an expression that is out of bounds ends neither the service nor the others:", () => {
  const short = { timeoutMs: 200 };
  const huge = "$length($pad('x', 500000000, 'y'))";
  const grows =
    "($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $split($f('xxxxxxxxxx', 25), ''))";
  const overTime = "tooLarge: the integration bad has not mapped the body in its time of 200 ms.";
  const overMemory = "tooLarge: the integration bad needs more memory for the body than it may have.";
  test.each([
    ["a loop without end", endless, short, overTime],
    ["a loop without end in $eval", `$eval("${endless}")`, short, "the integration bad"],
    ["a pattern that backtracks without end", stuck, short, overTime],
    ["one allocation over all memory", huge, {}, overMemory],
    ["a text that grows", grows, {}, overMemory],
    ["memory outside the heap", "$base64encode($pad('x', 500000000))", {}, overMemory],
    [
      "recursion without end",
      "($f := function($x) { 1 + $f($x + 1) }; $f(1))",
      {},
      "wrongType: the integration bad cannot map",
    ],
    ["a range over all bounds", "[1..1000000000]", {}, "wrongType: the integration bad cannot map"],
    [
      "a document over its size",
      "[1..900000]",
      {},
      "tooLarge: the integration bad has made no document that can be taken: the document is larger",
    ],
    [
      "a function in the document",
      '{ "a": $sum }',
      {},
      "wrongType: the integration bad has made no document that can be taken: a is a function",
    ],
    ["nothing at all", "nothing", {}, "the result is nothing"],
  ])("%s", async (_what, expression, changes, words) => {
    const integrations = await started([integration("bad", expression, changes), identity], { processes: 1 });
    const [said, other] = await Promise.all([
      refusal(map(integrations, "bad")),
      map(integrations, "same", { body: { a: 1 }, companyCode: "OTHER" }),
    ]);
    expect(said).toContain(words);
    expect(other).toEqual({ a: 1 });
  });

  test("a pattern that only backtracks is answered all the same", async () => {
    const pattern = "$contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', /^(a+)+$/)";
    const integrations = await started([integration("erp", pattern)]);
    expect(await map(integrations, "erp")).toBe(false);
  });

  test("while one is stuck, other companies are served by another process", async () => {
    const integrations = await started([integration("bad", stuck), identity], { processes: 2 });
    let isOver = false;
    const bad = refusal(map(integrations, "bad")).finally(() => {
      isOver = true;
    });
    expect(await map(integrations, "same", { companyCode: "OTHER" })).toEqual({});
    expect(isOver).toBe(false);
    await integrations.stop(AbortSignal.abort());
    expect(await bad).toContain("overloaded");
  });
});

describe("the integrations", () => {
  test("finish what is in hand when they stop, and take no more", async () => {
    const integrations = await started([identity], { processes: 1 });
    const inHand = [1, 2, 3].map((n) => map(integrations, "same", { body: n }));
    const stopped = integrations.stop(AbortSignal.timeout(20_000));
    expect(await refusal(map(integrations, "same"))).toContain("overloaded");
    expect(await Promise.all(inHand)).toEqual([1, 2, 3]);
    await stopped;
  });

  test("leave what is in hand at the deadline, and can be stopped twice", async () => {
    const integrations = await started([integration("bad", stuck, { timeoutMs: 60_000 })], { processes: 1 });
    const inHand = refusal(map(integrations, "bad"));
    const waiting = refusal(map(integrations, "bad"));
    await integrations.stop(AbortSignal.timeout(500));
    expect([await inHand, await waiting].map((text) => text.split(":")[0])).toEqual([
      "overloaded",
      "overloaded",
    ]);
    await integrations.stop(AbortSignal.abort());
  });

  test("give up a body that waits when nobody waits for it", async () => {
    const integrations = await started([integration("bad", stuck, { timeoutMs: 1_000 }), identity], {
      processes: 1,
    });
    const first = refusal(map(integrations, "bad"));
    const gone = new AbortController();
    const second = map(integrations, "same", { signal: gone.signal });
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    expect(await first).toContain("its time of 1000 ms");
  });

  test("say that they cannot be run when no process starts", async () => {
    // V8 refuses to start with a heap like this.
    const integrations = new Integrations({
      integrations: new Map([identity]),
      log,
      limits: { maxHeapMb: 1 },
    });
    made.push(integrations);
    expect(await refusal(map(integrations, "same"))).toContain("internal");
  });
});

describe("the processes", () => {
  const slow = integration("slow", stuck, { timeoutMs: 60_000 });

  test("are never all in the hands of one company while another is there", async () => {
    const integrations = await started([slow, identity]);
    await map(integrations, "same", { companyCode: "OTHER" });
    const ended: string[] = [];
    const held = [1, 2, 3].map(() =>
      map(integrations, "slow").then(
        () => ended.push("ACME"),
        () => ended.push("ACME"),
      ),
    );
    for (let index = 0; index < 3; index += 1)
      expect(await map(integrations, "same", { companyCode: "OTHER", body: [index] })).toEqual([index]);
    expect(ended).toEqual([]);
    await integrations.stop(AbortSignal.abort());
    await Promise.all(held);
  });

  test("are not waited for without end", async () => {
    const integrations = await started([slow, identity], { processes: 1, maxWaitMs: 200 });
    // The process takes longer to start than a body may wait here.
    await waitToPass(() => map(integrations, "same"));
    const held = refusal(map(integrations, "slow"));
    expect(await refusal(map(integrations, "same"))).toMatch(/^overloaded: .*later/);
    await integrations.stop(AbortSignal.abort());
    expect(await held).toMatch(/^overloaded: dropgate is stopping/);
  });

  test("may read the compiled program, and nothing else of the folder in which `npm start` keeps its state", () => {
    const options = nodeOptions({ maxHeapMb: 100, maxMemoryMb: 100, maxParserMb: 100 });
    const read = (path: string) => {
      const url = JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
      return spawnSync(process.execPath, [...options, "-e", `require("node:fs").readFileSync(${url})`]);
    };
    expect(read("./map-body.ts").status).toBe(0);
    const refused = read("../../CHANGELOG.md");
    expect([refused.status, String(refused.stderr)]).toEqual([
      1,
      expect.stringContaining("ERR_ACCESS_DENIED"),
    ]);
  });
});
