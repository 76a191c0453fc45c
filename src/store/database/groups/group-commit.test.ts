import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type BetterSqlite from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { StoreError } from "../../../lib/store-error.ts";
import { announce, createListeners } from "../announcements.ts";
import { createGroupCommit, type GroupCommit, statementsInTurn } from "./group-commit.ts";
import type { Tables } from "../schema.ts";
import { dataVersionOf, openSqlite, sqliteDialect } from "../sqlite-dialect.ts";

let path: string;
let database: BetterSqlite.Database;
let commits: GroupCommit;

beforeEach(() => {
  path = join(temporaryFolder(), "test.db");
  database = openSqlite(path, { isNew: true });
  onTestFinished(() => void database.close());
  database.exec("create table meta (key text primary key, value text)");
  commits = createGroupCommit(new Kysely<Tables>({ dialect: sqliteDialect(database) }));
});

function add(key: string, bytes: number): Promise<unknown> {
  return commits.run("site", (tx) =>
    tx
      .insertInto("meta")
      .values({ key, value: "x".repeat(bytes) })
      .execute(),
  );
}

function addSoon(key: string): Promise<unknown> {
  return commits.runSoon("site", (tx) => tx.insertInto("meta").values({ key, value: "x" }).execute());
}

/** How many commits wrote something. */
function countCommits(): () => number {
  let count = 0;
  // Told once after each commit.
  commits = createGroupCommit(new Kysely<Tables>({ dialect: sqliteDialect(database) }), () => {
    count += 1;
  });
  return () => count;
}

const keys = () => database.prepare("select key from meta order by key").pluck().all();

describe("a group of units", () => {
  it("is never run again once one of its units has begun, also when the database says that it is busy", async () => {
    let runs = 0;
    const busy = new StoreError("busy", "database is locked", undefined);
    const first = commits.run("site", async (tx) => {
      runs += 1;
      // As with a fault at which SQLite undoes everything by itself: nothing is left to go back to.
      await sql`rollback`.execute(tx);
      throw busy;
    });
    await expect(first).rejects.toBe(busy);
    expect(runs).toBe(1);
    await add("next", 1);
    expect(keys()).toEqual(["next"]);
  });

  it("on a full disk fails with the reason, undoes itself, and the next works when there is room again", async () => {
    database.pragma("max_page_count = 20");
    const outcomes = await Promise.allSettled([add("a", 10), add("b", 500_000), add("c", 10)]);
    for (const outcome of outcomes.filter(({ status }) => status === "rejected")) {
      expect(outcome).toMatchObject({ reason: { name: "StoreError", kind: "unavailable" } });
    }
    expect(outcomes[1]?.status).toBe("rejected");
    database.pragma("max_page_count = 10000");
    await add("d", 500_000);
    const kept = outcomes.flatMap(({ status }, index) =>
      status === "fulfilled" ? ["a", "b", "c"][index] : [],
    );
    expect(keys()).toEqual([...kept, "d"]);
  });

  it("waits while another process writes, without stopping the event loop", async () => {
    const other = openSqlite(path, { isNew: false });
    other.exec("begin immediate");
    const added = add("a", 10);
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    clearInterval(turning);
    other.exec("commit");
    other.close();
    await added;
    expect(keys()).toEqual(["a"]);
    expect(turns).toBeGreaterThan(1);
  });

  it("fails when another process goes on writing for more than ten seconds", async () => {
    const other = openSqlite(path, { isNew: false });
    onTestFinished(() => void other.close());
    other.exec("begin immediate");
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      nowMs += 3_000;
      return nowMs;
    });
    onTestFinished(() => void clock.mockRestore());
    await expect(add("a", 10)).rejects.toMatchObject({ kind: "busy" });
    expect(nowMs).toBeGreaterThanOrEqual(15_000);
  });

  it("whose units all fail leaves nothing and answers each with its own error", async () => {
    const failing = (text: string) =>
      commits.run("site", async () => {
        throw new Error(text);
      });
    const outcomes = await Promise.allSettled([failing("one"), failing("two")]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.message)).toEqual([
      "one",
      "two",
    ]);
  });

  it("counts its units and its one commit, and nothing of a group that could not be committed", async () => {
    await Promise.all([add("a", 1), add("b", 1), add("c", 1)]);
    const { figures } = commits;
    expect([figures.units, figures.durations.cumulated().at(-1)]).toEqual([3, 1]);
    expect(figures.durations.sum).toBeGreaterThan(0);
    const busy = new StoreError("busy", "database is locked", undefined);
    const undone = commits.run("site", async (tx) => {
      await sql`rollback`.execute(tx);
      throw busy;
    });
    await expect(undone).rejects.toBe(busy);
    expect([figures.units, figures.durations.cumulated().at(-1)]).toEqual([3, 1]);
  });

  it("gathers those of the next turns as long as each brings more", async () => {
    const other = openSqlite(path, { isNew: false });
    onTestFinished(() => void other.close());
    const versionNow = dataVersionOf(other);
    const before = versionNow();
    const seen = new Set<number>();
    // Of two at once: one alone is committed without looking out for others.
    const added: Promise<unknown>[] = [add("b", 10)];
    for (let turn = 0; turn < 4; turn += 1) {
      added.push(add(`a${turn}`, 10).then(() => void seen.add(versionNow())));
      await setImmediate();
    }
    await Promise.all(added);
    expect(seen.size).toBe(1);
    expect(seen.has(before)).toBe(false);
  });

  it.each([
    ["one alone for no others", 0, 1, 3],
    ["several as long as more come, eight turns at most", 1, 8, 10],
    ["no longer than until the group is full", 256, 1, 3],
  ])("waits: %s", async (_, comingEachTurn, fewest, most) => {
    let hasBegun = false;
    const first = commits.run("site", async () => {
      hasBegun = true;
    });
    const units = [first];
    let turns = 0;
    for (; !hasBegun; turns += 1) {
      for (let coming = comingEachTurn; coming > 0; coming -= 1)
        units.push(commits.run("site", async () => undefined));
      await setImmediate();
    }
    await Promise.all(units);
    expect(turns).toBeGreaterThanOrEqual(fewest);
    expect(turns).toBeLessThanOrEqual(most);
  });

  it("is not put off for ever by writers that never end", async () => {
    let isDone = false;
    const first = add("first", 10).then(() => {
      isDone = true;
    });
    const others: Promise<unknown>[] = [];
    for (let turn = 0; turn < 20 && !isDone; turn += 1) {
      others.push(add(`a${turn}`, 10));
      await setImmediate();
    }
    expect(isDone).toBe(true);
    await Promise.all([first, ...others]);
  });
});

describe("more units than a group has", () => {
  it("are committed 256 at a time", async () => {
    const commitsNow = countCommits();
    await Promise.all(Array.from({ length: 300 }, (_, index) => add(`u${index}`, 1)));
    expect(keys()).toHaveLength(300);
    expect(commitsNow()).toBe(2);
  });

  it("leave out those that can wait, of which a group takes as many as it has room for", async () => {
    const soon = ["s1", "s2"].map(addSoon);
    const urgent = Array.from({ length: 255 }, (_, index) => add(`u${index}`, 1));
    await Promise.all(urgent);
    expect(keys()).toHaveLength(256);
    expect(keys()).not.toContain("s2");
    await Promise.all(soon);
    expect(keys()).toHaveLength(257);
  });
});

describe("the close", () => {
  it("commits at once what could have waited, and refuses what comes later as overloaded", async () => {
    let isAnswered = false;
    void addSoon("a").then(() => {
      isAnswered = true;
    });
    await commits.close();
    expect(isAnswered).toBe(true);
    expect(keys()).toEqual(["a"]);
    await expect(add("b", 1)).rejects.toMatchObject({ code: "overloaded" });
    await expect(addSoon("c")).rejects.toMatchObject({ code: "overloaded" });
    expect(keys()).toEqual(["a"]);
  });
});

describe("a unit of many statements", () => {
  it("lets others have their turn, though the database answers at once", async () => {
    let isDone = false;
    const large = commits.run("site", async (tx) => {
      for (let index = 0; index < 20 * statementsInTurn; index += 1)
        await tx
          .insertInto("meta")
          .values({ key: String(index), value: "" })
          .execute();
      isDone = true;
    });
    let turns = 0;
    for (; !isDone; turns += 1) await setImmediate();
    await large;
    expect(turns).toBeGreaterThanOrEqual(20);
  });
});

describe("what a unit announces", () => {
  it("is told once its group is committed, and to nobody who has stopped to listen", async () => {
    const listeners = createListeners();
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const group = createGroupCommit(db, listeners.tell);
    const seen: string[] = [];
    const end = listeners.listen("deliveries", () => seen.push(keys().join()));
    await group.run("site", async (tx) => {
      announce(tx, "deliveries");
      await tx.insertInto("meta").values({ key: "a", value: "" }).execute();
      announce(tx, "deliveries");
      expect(seen).toEqual([]);
    });
    expect(seen).toEqual(["a"]);
    await group.run("site", (tx) => tx.insertInto("meta").values({ key: "b", value: "" }).execute());
    expect(seen).toEqual(["a"]);
    end();
    await group.run("site", async (tx) => announce(tx, "deliveries"));
    expect(seen).toEqual(["a"]);
    await group.close();
  });

  it("is not told when the unit fails", async () => {
    const told: (readonly string[])[] = [];
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const group = createGroupCommit(db, (topics) => void told.push([...topics]));
    const failing = group.run("site", async (tx) => {
      announce(tx, "deliveries");
      throw new Error("refused");
    });
    const other = group.run("site", async (tx) => announce(tx, "loadImports"));
    await expect(failing).rejects.toThrow("refused");
    await other;
    expect(told).toEqual([["loadImports"]]);
    await group.close();
  });

  it("is not told when the commit fails", async () => {
    const listeners = createListeners();
    const group = createGroupCommit(new Kysely<Tables>({ dialect: sqliteDialect(database) }), listeners.tell);
    const listener = vi.fn();
    listeners.listen("deliveries", listener);
    database.exec("create table child (id integer references meta (key) deferrable initially deferred)");
    const orphan = group.run("site", async (tx) => {
      announce(tx, "deliveries");
      await sql`insert into child values ('nobody')`.execute(tx);
    });
    await expect(orphan).rejects.toThrow();
    expect(listener).not.toHaveBeenCalled();
    await group.close();
  });
});

describe("a unit that can wait", () => {
  it("shares the commit of the next one that cannot", async () => {
    const count = countCommits();
    const soon = addSoon("soon");
    await setImmediate();
    expect([count(), keys()]).toEqual([0, []]);
    await Promise.all([add("now", 1), soon]);
    expect([count(), keys()]).toEqual([1, ["now", "soon"]]);
  });

  it("is committed when nothing else comes", async () => {
    await Promise.all([addSoon("a"), addSoon("b")]);
    expect(keys()).toEqual(["a", "b"]);
  });

  it("that fails undoes itself alone", async () => {
    const failing = commits.runSoon("site", async () => {
      throw new Error("mine");
    });
    const outcomes = await Promise.allSettled([failing, add("now", 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(keys()).toEqual(["now"]);
  });

  it("is committed by a close", async () => {
    const soon = addSoon("soon");
    await commits.close();
    await soon;
    expect(keys()).toEqual(["soon"]);
    await expect(addSoon("late")).rejects.toThrow(/is stopping/);
  });
});
