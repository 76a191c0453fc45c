/** The samples in docs/webhook.md check what the HTTPS target really sends. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpsTarget } from "../../src/targets/web/https-target.ts";
import { deliveryOf, fileOf, never } from "../support/deliveries.ts";
import { blocksIn, textOf } from "../support/markdown.ts";
import { type Post, startReceiver } from "../support/receiver.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";

const secret = "a secret with $ and 'quotes'";

interface Case {
  readonly post: Post;
  readonly secret: string;
  readonly isRight: boolean;
}

async function sentPost(): Promise<Post> {
  const receiver = await startReceiver();
  const target = createHttpsTarget({ url: receiver.url, allowPlain: true, signatureSecret: secret });
  await target.deliver(deliveryOf([fileOf("1001_20261105_081500.xml", "<a>\0ü</a>\r\n")]), never);
  await target.close();
  await receiver.end();
  const [post] = receiver.posts;
  if (post === undefined) throw new Error("nothing was posted");
  return post;
}

/** The post with some header fields changed. */
function changed(post: Post, headers: Record<string, string>): Post {
  return { ...post, headers: { ...post.headers, ...headers } };
}

function casesOf(post: Post): readonly Case[] {
  const late = String(Number(post.headers["x-dropgate-timestamp"]) - 400);
  return [
    { post, secret, isRight: true },
    { post, secret: "another", isRight: false },
    { post: { ...post, body: Buffer.concat([post.body, Buffer.from(" ")]) }, secret, isRight: false },
    { post: changed(post, { "x-dropgate-delivery": "another" }), secret, isRight: false },
    { post: changed(post, { "x-dropgate-timestamp": late }), secret, isRight: false },
    { post: changed(post, { "x-dropgate-signature": "" }), secret, isRight: false },
    { post: changed(post, { "x-dropgate-signature": `sha256=${"0".repeat(64)}` }), secret, isRight: false },
  ];
}

function sampleOf(language: string): string {
  const block = blocksIn("docs/webhook.md").find((one) => one.language === language);
  if (block === undefined) throw new Error(`no sample in ${language}`);
  return block.text;
}

describe("the samples for checking a signature", () => {
  let folder: string;
  let cases: readonly Case[];
  /** Signed an hour ago by the right secret. */
  let stale: Case;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dropgate-webhook-"));
    cases = casesOf(await sentPost());
    const receiver = await startReceiver();
    const clock = { now: () => Date.now() - 3_600_000 };
    const target = createHttpsTarget({ url: receiver.url, allowPlain: true, signatureSecret: secret, clock });
    await target.deliver(deliveryOf([fileOf("a.xml", "a")]), never);
    await target.close();
    await receiver.end();
    const [post] = receiver.posts;
    if (post !== undefined) stale = { post, secret, isRight: false };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs a program on each case: it finds headers, body and secret in files, and prints `true` or `false`. */
  async function verdicts(program: string, script: string, source: string): Promise<void> {
    writeFileSync(join(folder, script), source);
    for (const { post, secret: key, isRight } of [...cases, stale]) {
      writeFileSync(join(folder, "headers.json"), JSON.stringify(post.headers));
      writeFileSync(join(folder, "body"), post.body);
      writeFileSync(join(folder, "secret"), key);
      const { output } = await runProgram(program, [join(folder, script)], { cwd: folder });
      expect([program, output.trim()]).toEqual([program, String(isRight)]);
    }
  }

  test("in Node", async () => {
    const read = `import { readFileSync } from "node:fs";
const headers = JSON.parse(readFileSync("headers.json", "utf8"));
console.log(isFromDropgate(readFileSync("body"), headers, readFileSync("secret", "utf8")));`;
    await verdicts(process.execPath, "check.mjs", `${sampleOf("js")}\n${read}\n`);
  });

  test.skipIf(!isInstalled("python3"))("in Python", async () => {
    const read = `import json
headers = json.load(open("headers.json"))
print(str(is_from_dropgate(open("body", "rb").read(), headers, open("secret").read())).lower())`;
    await verdicts("python3", "check.py", `${sampleOf("python")}\n${read}\n`);
  });

  test.skipIf(!isInstalled("php"))("in PHP", async () => {
    const read = `$headers = json_decode(file_get_contents("headers.json"), true);
echo var_export(isFromDropgate(file_get_contents("body"), $headers, file_get_contents("secret")), true);`;
    await verdicts("php", "check.php", `${sampleOf("php")}\n${read}\n`);
  });

  test.skipIf(!isInstalled("openssl"))("in the shell with openssl", async () => {
    for (const { post, secret: key, isRight } of [...cases, stale]) {
      writeFileSync(join(folder, "body"), post.body);
      const env = {
        ...process.env,
        ID: String(post.headers["x-dropgate-delivery"]),
        TIMESTAMP: String(post.headers["x-dropgate-timestamp"]),
        SIGNATURE: String(post.headers["x-dropgate-signature"]),
        BODY_FILE: join(folder, "body"),
        SECRET: key,
      };
      const { stdout } = await runProgram("sh", ["-c", sampleOf("bash")], { env });
      expect(stdout.includes("it is from dropgate")).toBe(isRight);
    }
  });

  test("the page names every header that is sent, and no other of ours", () => {
    const sometimes = ["x-dropgate-directory", "x-dropgate-probe"];
    const sent = Object.keys(cases[0]?.post.headers ?? {}).filter((name) => name.startsWith("x-dropgate-"));
    const named = [...textOf("docs/webhook.md").matchAll(/X-Dropgate-[A-Za-z]+/g)].map(([name]) =>
      name.toLowerCase(),
    );
    expect([...new Set(named)].sort()).toEqual([...sent, ...sometimes].sort());
  });
});
