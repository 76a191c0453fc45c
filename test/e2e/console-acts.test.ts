/**
 * A death of the daemon amid acts of the console, before and after their commits: of each unit of work the act and its rows in
 * the audit are there, or neither. The daemon goes on with what was asked for, and the same form once more does nothing twice.
 */
import { writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { itemsAtOnce } from "../../src/app/admin/in-batches.ts";
import type { ActName } from "../../src/endpoints/http/console/console-services.ts";
import { deliveryHoldKey } from "../../src/store/outbound/delivery-hold.ts";
import { actCases } from "../support/console-act-cases.ts";
import { addressIn, deliveryOf, subjectsOf } from "../support/console-browser.ts";
import { ConsoleBrowser, consoleBase, signInToConsole } from "../support/console.ts";
import { ConsoleStory, storyEnv } from "../support/console-story.ts";
import type { Site } from "../support/daemon.ts";
import { stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { killedExitCode } from "./crash-host.ts";
import { changeRows, rowsOf as rowsIn } from "../support/site-database.ts";
import { sampled } from "../support/sampled.ts";

/** More than a unit of work takes at once. */
const lateFiles = itemsAtOnce + 5;

let story: ConsoleStory;
let site: Site;
let subjects: Record<string, string>;
const sessions = new Map<string, { readonly cookie: string; readonly formToken: string }>();

const rowsOf = (sql: string) => rowsIn<object>(site, sql);

const auditOf = (kind: ActName) => rowsOf(`select * from audit where kind = '${kind}'`).length;

/** What an operator of the command `restore` would find afterwards. */
function holdDeliveries(): void {
  const hold = { restoredAt: Date.now(), backup: "b-1", sendAgainFrom: Date.now(), lastReceivedAt: null };
  changeRows(site, "insert into meta (key, value) values (?, ?)", deliveryHoldKey, JSON.stringify(hold));
}

/** Files of a stop that a newer one has overtaken. */
async function dropLateFiles(): Promise<void> {
  for (let index = 0; index < lateFiles; index += 1) {
    const time = `05${String(Math.trunc(index / 60)).padStart(2, "0")}${String(index % 60).padStart(2, "0")}`;
    const { name, content } = stopFile("4711", { time });
    await writeFile(site.path("inbound", name), content);
  }
  await waitFor("the late files to be refused", () => {
    const [found] = rowsOf("select count(*) as n from files where state = 'superseded' and is_filed = 1");
    return Object.values(found ?? {})[0] === lateFiles + 1;
  });
}

/** The references of all that were overtaken. */
async function lateReferences(): Promise<string> {
  const browser = browserOf("admin");
  const { body } = await browser.get("/console/files/retry?state=superseded");
  return /name="of" value="([^"]*)"/.exec(body)?.[1] ?? "";
}

/** Somebody whose session was there before the daemon was started anew. */
function browserOf(name: string): ConsoleBrowser {
  const known = sessions.get(name);
  if (known === undefined) throw new Error(`${name} is not signed in`);
  return Object.assign(new ConsoleBrowser(consoleBase(site)), known);
}

beforeAll(async () => {
  story = await ConsoleStory.open();
  site = story.site;
  for (const name of ["admin", "operator"] as const) {
    const { cookie, formToken } = await signInToConsole(site, name);
    sessions.set(name, { cookie, formToken });
  }
  await dropLateFiles();
  subjects = {
    ...(await subjectsOf(story)),
    delivered: await deliveryOf(site, "outbound", "delivered"),
    late: await lateReferences(),
  };
  await site.stop();
  holdDeliveries();
});
afterEach(async () => {
  if (site.isRunning) await site.stop();
});
afterAll(() => story.end());

interface Death {
  /** What the act changes, as the database has it. */
  readonly effect: () => string;
  /** Units of work that die after their commits leave so many rows in the audit; one unless given. */
  readonly rowsOfUnit?: number;
  /** So many are there when the form was sent once more. */
  readonly rowsAtEnd?: number;
  /** How that is answered, unless as done. */
  readonly again?: number;
  readonly path?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The daemon has done what it was asked for. */
  readonly isSettled?: () => boolean;
}

const effectOf = (sql: string) => () => JSON.stringify(rowsOf(sql));
const ofDelivered = (sql: string) => () => JSON.stringify(rowsOf(`${sql} guid = '${subjects["delivered"]}'`));
const repeatsOfFiles = "select count(*) from file_repeats";

const deaths: Readonly<Partial<Record<ActName, Death>>> = {
  "deliveries.release": { effect: effectOf(`select * from meta where key = '${deliveryHoldKey}'`) },
  "file.retry": {
    effect: effectOf(repeatsOfFiles),
    ...{ rowsOfUnit: itemsAtOnce, rowsAtEnd: lateFiles + 1 },
    ...{ path: "/console/files/retry", fields: { of: "{late}" } },
    isSettled: () => rowsOf("select id from files where state = 'retry'").length === 0,
  },
  "delivery.resend": {
    effect: ofDelivered(
      "select r.id from delivery_repeats r join deliveries d on d.id = r.delivery_id where",
    ),
    isSettled: () => ofDelivered("select state from deliveries where")() === '[{"state":"delivered"}]',
  },
  "target.pause": { effect: effectOf("select * from hand_pauses") },
  // Whose roles they were is told by the form: it is as old as they are.
  "user.roles": { effect: effectOf("select * from memberships order by 1, 2"), again: 422 },
};

const told = (template: string) => template.replaceAll(/\{(\w+)\}/g, (_all, name) => subjects[name] ?? "?");

/** Sends the form of the act to the daemon that runs. */
function send(kind: ActName, seenAt: number) {
  const { by, path, fields } = { ...actCases[kind], ...deaths[kind] };
  const own = Object.entries(fields ?? {}).map(([name, text]) => [name, told(text)]);
  const form = { ...Object.fromEntries(own), reason: `to see ${kind}`, seenAt: String(seenAt) };
  return browserOf(by).post(addressIn(subjects, path), form);
}

async function sendToDeath(kind: ActName, step: string, seenAt: number): Promise<void> {
  const run = await site.start({ env: { ...storyEnv, DROPGATE_KILL_POINT: step } });
  await expect(send(kind, seenAt)).rejects.toThrow();
  expect(await run.exit).toBe(killedExitCode);
}

test.each(sampled(Object.entries(deaths), 2))(
  "%s is there with its rows, or not at all",
  async (name, death) => {
    const kind = name as ActName;
    const { effect, rowsOfUnit = 1, rowsAtEnd = rowsOfUnit, isSettled = () => true } = death;
    const seenAt = Date.now();
    const before = effect();
    await sendToDeath(kind, "unit@running-act.unit", seenAt);
    expect([auditOf(kind), effect()]).toEqual([0, before]);

    await sendToDeath(kind, "commit@running-act.unit", seenAt);
    expect(auditOf(kind)).toBe(rowsOfUnit);
    expect(effect()).not.toBe(before);

    await site.start({ env: storyEnv });
    await waitFor("the daemon to go on with it", isSettled);
    const again = await send(kind, seenAt);
    expect(death.again === undefined ? [200, 303] : [death.again], again.body).toContain(again.status);
    expect(auditOf(kind)).toBe(rowsAtEnd);
    await waitFor("the daemon to have done all of it", isSettled);
  },
);
