/** Commands that list, and do something to, all files and deliveries that a filter selects. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { Site } from "../support/daemon.ts";
import { runProgram } from "../support/run-program.ts";
import { program } from "../support/site-template.ts";
import { hourMs } from "../../src/lib/durations.ts";

const count = 250;
const begin = Date.UTC(2025, 10, 5, 8);

let site: Site;

async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(site.stateDir, { url: site.databaseUrl });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Completions of stops S1, S2, … that were delivered, one each hour; every tenth is a dead letter. */
function enterDeliveries(): Promise<void> {
  return inStore((store) =>
    store.write("site", async (tx) => {
      const target = await tx
        .selectFrom("outbound_targets")
        .select(["id", "company_id"])
        .executeTakeFirstOrThrow();
      const ofCompany = { company_id: target.company_id };
      for (let nbr = 1; nbr <= count; nbr += 1) {
        const at = begin + nbr * hourMs;
        const name = `s${nbr}_20261105_080000.xml`;
        const stop = { ...ofCompany, stop_nbr: `S${nbr}`, name, format: 1, embeds_documents: 0 };
        const events = { trigger_code: 7009, first_event_id: 1, last_event_id: 1, stop_status: "90" };
        const body = { body: "{}", execution: "{}", driver: "{}", created_at: at };
        const { id } = await tx
          .insertInto("completions")
          .values({ ...stop, ...events, ...body })
          .returning("id")
          .executeTakeFirstOrThrow();
        const isDead = nbr % 10 === 0;
        const outcome = isDead
          ? { state: "dead" as const, fault: "refused", fault_text: "the server says no" }
          : {
              state: "delivered" as const,
              delivered_at: at,
              collected_at: at,
              collected_by: `user${nbr % 2}`,
            };
        const line = { kind: "completion" as const, subject_id: id, order_key: `S${nbr}`, line_nbr: 0, name };
        const guid = `00000000-0000-4000-8000-${String(nbr).padStart(12, "0")}`;
        const times = { due_at: at, created_at: at, attempts: 1, last_attempt_at: at };
        await tx
          .insertInto("deliveries")
          .values({ guid, ...ofCompany, target_id: target.id, ...line, ...times, ...outcome })
          .execute();
      }
      await tx
        .updateTable("outbound_targets")
        .set({ dead_count: count / 10 })
        .execute();
    }),
  );
}

interface View {
  readonly id: number;
  readonly state: string;
}

const deliveries = (...args: readonly string[]) => site.json<readonly View[]>("deliveries", ...args);
const ids = async (...args: readonly string[]) => (await deliveries(...args)).map(({ id }) => id);
const counted = async (...args: readonly string[]) =>
  (await site.json<{ count: number }>("deliveries", "--count", ...args)).count;
const at = (nbr: number) => new Date(begin + nbr * hourMs).toISOString();

beforeAll(async () => {
  site = await Site.make();
  await enterDeliveries();
});
afterAll(() => site.end());

describe("deliveries are listed", () => {
  test("by time, name, fault, type of target, user and stop, together", async () => {
    expect(await ids("--since", at(7), "--until", at(9))).toEqual([8, 7]);
    expect(await ids("--name", "s1?_*")).toEqual([19, 18, 17, 16, 15, 14, 13, 12, 11, 10]);
    expect(await ids("--name", "s24_20261105_080000.xml")).toEqual([24]);
    expect(await ids("--fault", "refused", "--until", at(30))).toEqual([20, 10]);
    expect(await ids("--user", "user1", "--until", at(6), "--state", "delivered")).toEqual([5, 3, 1]);
    expect(await ids("--stop", "S17", "--channel", "folder", "--company", "acme")).toEqual([17]);
    expect(await counted("--state", "dead", "--target", "outbound")).toBe(25);
    expect(await counted("--fault", "unreachable")).toBe(0);
  });

  test("page by page, each of which says how the next begins", async () => {
    const first = await site.cli("deliveries", "--limit", "3");
    expect(first.output).toContain("(only 3: --limit shows more, --before 248 the ones before)");
    expect(await ids("--limit", "2", "--before", "248")).toEqual([247, 246]);
    const last = await site.cli("deliveries", "--limit", "3", "--before", "3");
    expect(last.output).not.toContain("--before");
  });

  test("a type of target that there is not is wrong use, as a target is", async () => {
    const { exitCode, output } = await site.cli("deliveries", "--channel", "sftp");
    expect([exitCode, output]).toEqual([
      2,
      expect.stringContaining("no target of type sftp; there is folder"),
    ]);
  });
});

describe("dead letters that a filter selects", () => {
  const chosen = ["delivery", "retry", "--fault", "refused", "--until", at(41)];

  test("are shown first, with the first and the last of them, and nothing is changed", async () => {
    const dry = await site.cli(...chosen, "--dry-run", "--limit", "1");
    expect(dry.stdout).toContain("4 deliveries (10, 20, 30, 40) would be tried again.");
    expect(dry.stdout).toMatch(
      /and 3 more .*\n\n.*\nFirst: 10, s10_.*made 2025-11-05T18.*\nLast: {2}40, s40_/,
    );
    const asked = await site.cli(...chosen);
    expect([asked.exitCode, asked.output]).toEqual([
      2,
      expect.stringContaining("4 deliveries (10, 20, 30, 40) would be tried again: add --yes to try them"),
    ]);
    expect(await counted("--state", "dead")).toBe(25);
  });

  test("are not tried with --dry-run, whichever way they are chosen, and --json is heeded by numbers too", async () => {
    const all = await site.cli("delivery", "retry", "--all", "--target", "outbound", "--dry-run");
    expect([all.exitCode, all.output]).toEqual([2, expect.stringContaining("--target NAME --dry-run")]);
    const dry = await site.cli("delivery", "retry", "10", "--json", "--dry-run");
    expect(JSON.parse(dry.stdout)).toMatchObject({ repeats: [{ id: 10, isQueued: true }] });
    for (const what of ["retry", "resend"]) {
      const { exitCode, stdout } = await site.cli("delivery", what, "9999", "--json");
      expect(exitCode).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ repeats: [{ id: 9999, isQueued: false }] });
    }
    expect(await counted("--state", "dead")).toBe(25);
  });

  test("are tried again once, and the same command finds none of them any more", async () => {
    const report = await site.json<{ ids: readonly number[] }>(...chosen, "--yes");
    expect(report.ids).toEqual([10, 20, 30, 40]);
    expect(await ids("--state", "waiting")).toEqual([40, 30, 20, 10]);
    const again = await site.cli(...chosen, "--yes");
    expect([again.exitCode, again.output]).toEqual([
      1,
      expect.stringContaining(
        "can be tried again: dead ones are chosen unless --state says waiting or dropped",
      ),
    ]);
  });

  test("numbers and options are not mixed, and a company alone is too much", async () => {
    for (const args of [["10", "--fault", "refused"], ["--company", "ACME"], [], ["--all"]])
      expect((await site.cli("delivery", "retry", ...args)).exitCode).toBe(2);
  });
});

describe("a resend that is cut off", () => {
  const resend = ["delivery", "resend", "--target", "outbound", "--since", "20000d"];
  /** Ends the command with SIGKILL when that batch is committed. */
  const killed = async (nth: number): Promise<void> => {
    const env = { ...process.env, DROPGATE_KILL_POINT: `commit@resend-admin.work:${nth}` };
    const args = [...resend, "--yes", "--config", site.configFile];
    const { exitCode, output } = await runProgram(program, args, { env });
    expect(exitCode, output).toBe(137);
  };
  const delivered = count - count / 10;

  test("goes on when it is repeated: each delivery is queued once, in order, whenever it was killed", async () => {
    await killed(1);
    expect(await counted("--state", "delivered")).toBe(delivered - 100);
    // Meanwhile the first ones are delivered again: by their times they are of the selection once more.
    await inStore((store) =>
      store.write("site", (tx) =>
        tx
          .updateTable("deliveries")
          .set({ state: "delivered", delivered_at: Date.now() })
          .where("state", "=", "waiting")
          .where("delivered_at", "is", null)
          .where("fault", "is", null)
          .execute(),
      ),
    );
    // And one is delivered for the first time: that was not asked for.
    await inStore((store) =>
      store.write("site", (tx) =>
        tx
          .updateTable("deliveries")
          .set({ state: "delivered", delivered_at: Date.now(), fault: null })
          .where("id", "=", 210)
          .execute(),
      ),
    );
    const dry = await site.cli(...resend, "--dry-run");
    expect(dry.output).toContain("was cut off after 100 deliveries: this is the rest; --anew sends all");
    expect(dry.stdout).toContain("125 deliveries (112, 113, 114, 115");
    const rest = await site.json<{ ids: readonly number[] }>(...resend, "--yes");
    expect(rest.ids).toHaveLength(delivered - 100);
    const repeats = await inStore(({ read }) =>
      read
        .selectFrom("delivery_repeats")
        .select(["delivery_id as id", (eb) => eb.fn.countAll<number>().as("times")])
        .where("state", "=", "delivered")
        .groupBy("delivery_id")
        .execute(),
    );
    expect(repeats).toHaveLength(delivered);
    expect(repeats.filter(({ times }) => times !== 1)).toEqual([]);
  });

  test("has ended then: the same command is a new one", async () => {
    const dry = await site.cli(...resend, "--dry-run");
    expect(dry.output).not.toContain("cut off");
    expect(dry.stdout).toContain("101 deliveries (1, 2, 3");
  });
});

describe("what a question has shown is all that is done", () => {
  const change = (id: number, values: object) => () =>
    inStore((store) =>
      store.write("site", (tx) => tx.updateTable("deliveries").set(values).where("id", "=", id).execute()),
    );
  const stateOf = async (id: number) =>
    (await site.json<{ state: string }>("delivery", "show", String(id))).state;
  /** Runs a command of deliveries, and answers its question when something has happened. */
  const answerYes = async (args: readonly string[], meanwhile: () => Promise<unknown>) => {
    let asked = "";
    let output = "";
    const write = (text: string) => (output += text);
    const ask = async (question: string) => {
      asked = question;
      await meanwhile();
      return "y";
    };
    const io = { env: {}, cwd: site.folder, stdout: { write }, stderr: { write }, ask };
    const exitCode = await runCli(["delivery", ...args, "--config", site.configFile], io);
    return { exitCode, asked, output };
  };

  test.each([
    {
      args: ["retry", "--name", "s5?_*"],
      shown: 50,
      ...{ joins: 51, state: "dead" },
      meanwhile: change(51, { state: "dead", fault: "refused" }),
    },
    {
      args: ["resend", "--name", "s6?_*"],
      shown: 61,
      ...{ joins: 60, state: "delivered" },
      meanwhile: change(60, { state: "delivered", delivered_at: begin }),
    },
  ])("by delivery $args.0", async ({ args, shown, joins, state, meanwhile }) => {
    const { exitCode, asked, output } = await answerYes(args, meanwhile);
    expect([exitCode, asked], output).toEqual([0, expect.stringContaining(`(${shown}`)]);
    expect(await stateOf(shown)).toBe("waiting");
    expect(await stateOf(joins)).toBe(state);
  });

  test("by delivery give-up --all, and what was delivered meanwhile is told", async () => {
    const [kept = 0, sent = 0] = await ids("--state", "dead");
    const open = (await counted("--state", "waiting")) + (await counted("--state", "behind"));
    const shown = (await counted("--state", "dead")) - 1 + open;
    await change(kept, { state: "delivered", delivered_at: begin })();
    const { exitCode, asked, output } = await answerYes(
      ["give-up", "--all", "--target", "outbound", "--reason", "the host has moved away"],
      async () => {
        await change(kept, { state: "dead", fault: "refused" })();
        await change(sent, { state: "delivered", delivered_at: begin })();
      },
    );
    expect([exitCode, asked], output).toEqual([
      0,
      expect.stringContaining(`${shown} deliveries to outbound (`),
    ]);
    expect(output).toContain(`${shown - 1} deliveries to outbound (`);
    expect(output).toContain("1 delivery not: delivered, or given up, meanwhile.");
    expect([await stateOf(kept), await stateOf(sent)]).toEqual(["dead", "delivered"]);
    expect(await ids("--state", "dead")).toEqual([kept]);
  });
});
