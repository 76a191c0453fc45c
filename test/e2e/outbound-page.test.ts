/** The commands of docs/outbound.md, run one after another where there are deliveries such as they speak of. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "../../src/store/database/database.ts";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";
import { company, Site } from "../support/daemon.ts";
import { blocksIn } from "../support/markdown.ts";
import { type ProgramResult, runProgram } from "../support/run-program.ts";
import { commandsOf } from "../support/server-pages.ts";
import { program } from "../support/site-template.ts";

const page = "docs/outbound.md";
const stop = "4711";
/** So many that there are the numbers 17 and 18. */
const count = 20;

let site: Site;

/** Nothing is sent there: the daemon runs no more. */
const targetsWith = (password: string) => ({
  outbound: { type: "folder", completions: "none" },
  tms: {
    ...{ type: "sftp", host: "127.0.0.1", port: 2222, user: "dropgate", password: `file:${password}` },
    hostKeys: ["SHA256:OTpFHhd6CPM2aOqbY6PvfSb3Kd+OpFXgvCd4mzt6Vqg"],
  },
});
const exports = { nightly: { schedule: "30 2 * * *", zone: "Europe/Berlin", target: "outbound" } };

async function inStore(work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const store = await openStore(site.stateDir, { url: site.databaseUrl });
  try {
    await store.write("site", work);
  } finally {
    await store.close();
  }
}

async function enterDeliveries(tx: Transaction): Promise<void> {
  const at = Date.now() - 3_600_000;
  const target = await tx
    .selectFrom("outbound_targets")
    .select(["id", "company_id"])
    .where("name", "=", "tms")
    .executeTakeFirstOrThrow();
  const ofCompany = { company_id: target.company_id };
  for (let nbr = 1; nbr <= count; nbr += 1) {
    const name = `${stop}_20261105_0800${String(nbr).padStart(2, "0")}.xml`;
    const { id } = await tx
      .insertInto("completions")
      .values({
        ...{ ...ofCompany, stop_nbr: stop, name, format: 1, embeds_documents: 0, trigger_code: 7009 },
        ...{ first_event_id: 1, last_event_id: 1, stop_status: "90", body: "{}", execution: "{}" },
        ...{ driver: "{}", created_at: at },
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    await tx
      .insertInto("deliveries")
      .values({
        guid: `00000000-0000-4000-8000-${String(nbr).padStart(12, "0")}`,
        ...{ ...ofCompany, target_id: target.id, kind: "completion", subject_id: id, name },
        ...{ order_key: `${stop}-${nbr}`, line_nbr: 0, state: "waiting", due_at: at, created_at: at },
      })
      .execute();
  }
}

/** Makes deliveries dead letters, or delivered ones. */
async function become(state: "dead" | "delivered", ids: readonly number[]): Promise<void> {
  const isDead = state === "dead";
  await inStore(async (tx) => {
    await tx
      .updateTable("deliveries")
      .set({ state, fault: isDead ? "refused" : null, delivered_at: isDead ? null : Date.now() })
      .where("id", "in", ids)
      .execute();
    await sql`update outbound_targets set dead_count =
      (select count(*) from deliveries d where d.target_id = outbound_targets.id and d.state = 'dead')`.execute(
      tx,
    );
  });
}

/** The newest one gets the number that the page asks for. */
const numberExport = () =>
  inStore((tx) =>
    sql`update exports set sequence_nbr = 12 where id = (select max(id) from exports)`.execute(tx),
  );

/** What has come of deliveries before a command of the page. */
const before: readonly (readonly [command: RegExp, make: () => Promise<void>])[] = [
  [/^dropgate delivery retry 17 18$/, () => become("dead", [17, 18])],
  [/^dropgate delivery retry --fault refused .* --dry-run$/, () => become("dead", [1, 2, 3])],
  [/^dropgate delivery resend 17$/, () => become("delivered", [17])],
  [/^dropgate delivery resend --stop 4711 --yes$/, () => become("delivered", [1, 2])],
  [/^dropgate delivery resend --since 24h /, () => become("delivered", [4, 5])],
  [/^dropgate export .* --again 12$/, numberExport],
];

async function run(command: string): Promise<ProgramResult> {
  const text = command.replace(/^dropgate /, `${program} `).replace("ACME", company);
  const env = { ...process.env, DROPGATE_CONFIG: site.configFile };
  return await runProgram("sh", ["-c", text], { env });
}

beforeAll(async () => {
  site = await Site.make();
  const password = join(site.folder, "tms.password");
  await writeFile(password, "secret-of-tms");
  const outbound = { targets: targetsWith(password), exports };
  await site.reconfigure({ companies: { [company]: { outbound } } });
  // Its start notes the targets.
  await site.start();
  await site.stop();
  await inStore(enterDeliveries);
});
afterAll(() => site.end());

test("each command of the page succeeds, and does what it says", async () => {
  const commands = blocksIn(page).flatMap(({ language, text }) =>
    language === "sh" ? commandsOf(text) : [],
  );
  expect(commands.length).toBeGreaterThan(15);
  const outputs = new Map<string, string>();
  for (const command of commands) {
    for (const [form, make] of before) if (form.test(command)) await make();
    const { exitCode, output } = await run(command);
    expect(exitCode, `${command}\n${output}`).toBe(0);
    outputs.set(command, output);
  }
  for (const [form] of before) expect(commands.filter((command) => form.test(command))).toHaveLength(1);
  const outputOf = (form: RegExp) => [...outputs].find(([command]) => form.test(command))?.[1];
  expect(outputOf(/retry --fault refused .*--dry-run/)).toContain(
    "3 deliveries (1, 2, 3) would be tried again.",
  );
  expect(outputOf(/retry --fault refused .*--yes/)).toContain(
    "3 deliveries (1, 2, 3) are to be tried again.",
  );
  expect(outputOf(/resend --stop/)).toMatch(/2 deliveries \(1, 2\) are to be sent again\./);
  expect(outputOf(/resend --since/)).toContain("would be sent again.");
});
