/** Questions of the real program to whoever sits at the terminal: it runs on a pseudo-terminal, and a test types. */
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { company, lenient, program, Site } from "../support/daemon.ts";
import { isInstalled } from "../support/run-program.ts";
import { openStore } from "../../src/store/database/database.ts";
import { addDelivery } from "../../src/store/outbound/deliveries.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

interface Delivery {
  readonly id: number;
  readonly state: string;
}

/** A program on a terminal of its own: what it has printed, what is typed, and how it ends. */
class Terminal {
  readonly #child: ChildProcess;
  readonly exit: Promise<number>;
  shown = "";

  constructor(args: readonly string[]) {
    const words = [program, ...args].map((word) => `'${word}'`).join(" ");
    // -e: its exit code is that of the program.
    this.#child = spawn("script", ["-q", "-e", "-c", words, "/dev/null"], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.shown += text));
    this.exit = new Promise((resolve) => this.#child.on("close", (code) => resolve(code ?? 137)));
  }

  async answer(keys: string): Promise<number> {
    await waitFor("the question", () => this.shown.includes("Go on? [y/N]"));
    this.#child.stdin?.write(keys);
    return await this.exit;
  }
}

const giveUp = () =>
  new Terminal(
    ["delivery", "give-up", "--all", "--target", "gone", "--reason", "moved away"].concat([
      "--config",
      site.configFile,
    ]),
  );
const waiting = async () => (await site.json<readonly Delivery[]>("deliveries", "--state", "waiting")).length;

beforeAll(async () => {
  const targets = { gone: { type: "https", url: "http://127.0.0.1:1/", allowPlain: true } };
  site = await Site.make({ security: lenient, companies: { [company]: { outbound: { targets } } } });
  // A start copies the targets into the state; what it tries in that moment fails.
  await site.start();
  await site.stop();
  const store = await openStore(site.stateDir, { url: site.databaseUrl });
  const { id: targetId, company_id: companyId } = await store.read
    .selectFrom("outbound_targets")
    .select(["id", "company_id"])
    .where("name", "=", "gone")
    .executeTakeFirstOrThrow();
  await store.write("site", async (tx) => {
    for (const nbr of [1, 2, 3]) {
      const line = { companyId, targetId, orderKey: `e${nbr}`, subjectId: nbr, now: Date.now() };
      await addDelivery(tx, { ...line, kind: "export", name: `e${nbr}.xml` });
    }
  });
  await store.close();
});
afterAll(() => site.end());

describe.skipIf(!isInstalled("script"))("at a terminal", () => {
  test.each([
    ["n", "n\r"],
    ["nothing but Enter", "\r"],
    ["the end of the input", "\u0004"],
  ])("%s does nothing, and says so", async (_, keys) => {
    const terminal = giveUp();
    expect(await terminal.answer(keys)).toBe(1);
    expect(terminal.shown).toContain("3 deliveries to gone (1, 2, 3) would be given up. Go on? [y/N]");
    expect(terminal.shown).toContain("nothing was done");
    expect(await waiting()).toBe(3);
  });

  test("the key that interrupts ends the command, and nothing is done", async () => {
    expect(await giveUp().answer("\u0003")).not.toBe(0);
    expect(await waiting()).toBe(3);
  });

  test("y does what was shown", async () => {
    const terminal = giveUp();
    expect(await terminal.answer("y\r"), terminal.shown).toBe(0);
    expect(terminal.shown).toContain("3 deliveries to gone (1, 2, 3) given up.");
    expect(await waiting()).toBe(0);
  });
});
