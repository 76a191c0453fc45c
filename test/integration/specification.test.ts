/** The tables of docs/specification say what the tables of the program say: states, events, reasons, operations, limits. */
import { describe, expect, test } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";
import { configSchema } from "../../src/config/schema.ts";
import { type ListedSetting, settingsBelow } from "../../src/config/reader/setting-list.ts";
import { formatSize } from "../../src/config/reader/size.ts";
import { capacityNames } from "../../src/domain/appointments/appointment-capacity.ts";
import { fileStates } from "../../src/domain/files/file-state.ts";
import { importKinds } from "../../src/domain/fields/import-kind.ts";
import { type LoadAction, loadActions, loadStatusNames } from "../../src/domain/load/load-status.ts";
import { zoneAbbreviations } from "../../src/domain/time/zoned-time.ts";
import { messageEvents } from "../../src/domain/messages/message-event.ts";
import { type RecordedEventKind, recordedEvents } from "../../src/domain/outbound/recorded-events.ts";
import { nextAttemptAt } from "../../src/domain/outbound/retry-schedule.ts";
import { roles } from "../../src/domain/users/role.ts";
import {
  routeEventCodes,
  type RouteEventRule,
  routeEventRules,
  type StopMoves,
} from "../../src/domain/execution/route-event-rules.ts";
import { asnImportRules, plannedImportRules, stopActions } from "../../src/domain/stop/stop-actions.ts";
import {
  type ImportRule,
  type StopImportRules,
  importRules,
  isFinalStopStatus,
  stopStatusNames,
} from "../../src/domain/stop/stop-status.ts";
import { rolesFor } from "../../src/endpoints/http/console/console-user.ts";
import { routes } from "../../src/endpoints/http/routes.ts";
import { folderNames, rightsOf } from "../../src/exchange/folders/folder-rights.ts";
import { errorCatalogue, reasonCodeOf } from "../../src/lib/errors.ts";
import { failureScores } from "../../src/sign-in/failed-sign-ins.ts";
import {
  markdownIn,
  projectFolder,
  proseOf,
  spansOf,
  specificationFolder,
  specificationPage,
  tableUnder,
  textOf,
} from "../support/markdown.ts";
import { targetTypes } from "../support/target-types.ts";

function table(page: string, heading: string): string[][] {
  return tableUnder(specificationPage(page), heading);
}

/** A row under each of the names in its first cell. */
function byName(rows: readonly string[][]): Record<string, string[]> {
  return Object.fromEntries(
    rows.flatMap(([names = "", ...cells]) => {
      const spans = spansOf(names);
      return (spans.length > 0 ? spans : [names]).map((name) => [name, cells]);
    }),
  );
}

const none = "–";

function codesOf(events: readonly RecordedEventKind[]): string {
  return events.map((event) => recordedEvents[event].code).join(", ") || none;
}

test("no page has more than 400 lines", () => {
  const pages = markdownIn(specificationFolder);
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter((name) => textOf(name).split("\n").length > 400)).toEqual([]);
});

describe("stop-states.md", () => {
  test("has the states of stops", () => {
    expect(byName(table("stop-states", "States of a stop"))).toEqual(
      Object.fromEntries(Object.entries(stopStatusNames).map(([state, name]) => [state, [name]])),
    );
  });

  test("has the states of loads", () => {
    expect(byName(table("stop-states", "States of a load"))).toEqual(
      Object.fromEntries(Object.entries(loadStatusNames).map(([state, name]) => [state, [name]])),
    );
  });

  test("says which states of a stop are final", () => {
    const [sentence = ""] = /^.* are final/m.exec(proseOf(specificationPage("stop-states"))) ?? [];
    const states = Object.keys(stopStatusNames) as (keyof typeof stopStatusNames)[];
    expect(spansOf(sentence)).toEqual(states.filter(isFinalStopStatus).toSorted());
  });

  const effects = { create: "created", update: "updated" } as const;

  function rowOf(rule: ImportRule): string[] {
    if (rule.kind === "refuse") return ["refused", String(reasonCodeOf(rule.code)), none];
    return [effects[rule.kind], rule.to, codesOf(rule.events)];
  }

  test.each<[string, StopImportRules]>([
    ["Imports of a stop", importRules],
    ["Imports of an ASN", asnImportRules],
    ["Stops of a load import", plannedImportRules],
  ])("has what is done to a stop in each state: %s", (heading, rules) => {
    const rows = Object.entries(byName(table("stop-states", heading)));
    const plain = rows.map(([state, [effect, next = "", recorded]]) => [
      state,
      [effect, next.replaceAll("`", ""), recorded],
    ]);
    expect(Object.fromEntries(plain)).toEqual(
      Object.fromEntries(
        Object.entries(rules).map(([state, rule]) => [state === "none" ? "new" : state, rowOf(rule)]),
      ),
    );
  });

  const wordsOfAction: Readonly<Record<LoadAction, string>> = {
    import: "import",
    assignCarrier: "assign carrier",
    unassignCarrier: "unassign carrier",
    assignDriver: "assign driver",
    unassignDriver: "unassign driver",
    cancel: "cancel",
  };

  test("has what each action on a load answers in each state", () => {
    const expected = Object.entries(wordsOfAction).map(([action, words]) => [
      words,
      ...Object.values(loadActions[action as LoadAction]).map((code) =>
        code === undefined ? "done" : String(reasonCodeOf(code)),
      ),
    ]);
    expect(table("stop-states", "Actions on a load")).toEqual(expected);
  });

  test("has what each action on a stop is refused with, and in which states it is not", () => {
    const rows = byName(table("stop-states", "Actions on a stop"));
    const words = {
      reject: "delete stop",
      rejectAsn: "delete ASN",
      rejectOrder: "delete order",
      assignCarrier: "assign or unassign carrier",
      schedule: "write an appointment",
    } as const satisfies Record<keyof typeof stopActions, string>;
    for (const [action, { from, code }] of Object.entries(stopActions)) {
      const [states = "", refusal] = rows[words[action as keyof typeof stopActions]] ?? [];
      expect([action, spansOf(states)]).toEqual([action, from]);
      expect([action, refusal]).toEqual([
        action,
        code === undefined ? "906 or 907" : String(reasonCodeOf(code)),
      ]);
    }
  });
});

describe("events.md", () => {
  test("has the codes of route events", () => {
    expect(table("events", "Route event codes").flatMap(([, code = ""]) => spansOf(code))).toEqual(
      routeEventCodes,
    );
  });

  function movesText(moves: StopMoves | undefined): string {
    return Object.entries(moves ?? {})
      .map(([from, to]) => `${from}→${to}`)
      .join(", ");
  }

  function rowOf(rule: RouteEventRule): string[] {
    const visits = rule.kind === "stop" ? rule.moves : {};
    const { pickupOnly, pickupAndDropoff, dropoffOnly } = visits;
    const moves = [pickupOnly, pickupAndDropoff, dropoffOnly].map(movesText);
    return [
      rule.loadStates.join(", "),
      ...moves,
      codesOf(rule.recorded === undefined ? [] : [rule.recorded]),
    ];
  }

  test("has what each route event does", () => {
    expect(byName(table("events", "Effects of route events"))).toEqual(
      Object.fromEntries(Object.entries(routeEventRules).map(([code, rule]) => [code, rowOf(rule)])),
    );
  });

  test("has the events that are recorded", () => {
    const rows = table("events", "Recorded events").map(([code, name]) => [code, name]);
    expect(rows).toEqual(Object.values(recordedEvents).map(({ code, name }) => [String(code), name]));
  });
});

test("reasons.md has each reason with its status, and whether a retry makes sense", () => {
  expect(table("reasons", "Reason codes")).toEqual(
    Object.values(errorCatalogue).map(({ reasonCode, httpStatus, isRetryable, meaning }) => [
      String(reasonCode),
      String(httpStatus),
      isRetryable ? "yes" : "no",
      meaning,
    ]),
  );
});

describe("gateway.md and accounts.md", () => {
  const who = new Map(
    table("accounts", "Roles of operations").map(([word = "", named = ""]) => [word, spansOf(named)]),
  );

  test("have each operation with its path, version and roles", () => {
    const rows = table("gateway", "Operations").map(([, methodAndPath = "", version, word = ""]) =>
      [methodAndPath.replaceAll("`", ""), version, ...(who.get(word) ?? [word])].join(" "),
    );
    const operations = routes.filter(({ path }) => !/^\/(docs|console)\//.test(path));
    const expected = operations.map(({ method, path, version, access }) =>
      [`${method} ${path}`, version === "none" ? none : version, ...(access === "public" ? [] : access)].join(
        " ",
      ),
    );
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  test("have the roles", () => {
    expect(Object.keys(byName(table("accounts", "Roles")))).toEqual(roles);
  });

  test("have the points of failed sign-ins", () => {
    const points = Object.values(byName(table("accounts", "Failed sign-ins"))).map(([count]) =>
      Number(count),
    );
    const { failedSignIn, silence, brokenLimit } = failureScores;
    expect(points).toEqual([failedSignIn, failedSignIn, silence, brokenLimit]);
  });

  test("have the abbreviations of time zones", () => {
    const [, section = ""] = proseOf(specificationPage("gateway")).split("## Time zones");
    const [text = ""] = section.split("\n## ");
    expect(
      [...text.matchAll(/\b[A-Z]{3,4}\b/g)].map(([name]) => name).filter((name) => name !== "IANA"),
    ).toEqual([...zoneAbbreviations]);
  });
});

test("console.md has the roles of each access", () => {
  const rows = byName(table("console", "Access"));
  const ofRow = (name: string) =>
    (rows[name] ?? []).flatMap((cell) => [...cell.matchAll(/\b(?:MemberAdmin|DI_\w+)/g)]);
  for (const [access, needed] of Object.entries(rolesFor))
    expect(
      ofRow(access)
        .map(([role]) => role)
        .sort(),
    ).toEqual([...needed].sort());
  // Operators administer too, without any role.
  expect(ofRow("administer").map(([role]) => role)).toEqual([...rolesFor.act]);
  expect(Object.keys(rows)).toEqual([...Object.keys(rolesFor), "administer", "operator", "signed in"]);
});

test("file-exchange.md has what a host may do in each folder", () => {
  const may = ({ put, get, remove, rename }: ReturnType<typeof rightsOf>) => [
    ...(put ? ["put"] : []),
    "list",
    ...(get ? ["get"] : []),
    ...(remove === "files" ? ["delete"] : []),
    ...(rename === "intoDone" ? ["rename into `outbound/done/`"] : []),
    ...(rename === "ownUnfinished" && remove === rename
      ? ["rename and delete its own unfinished files"]
      : []),
  ];
  const rows = table("file-exchange", "Folders").map(([folder = "", rights]) => [
    spansOf(folder)[0]?.split("/")[0],
    rights,
  ]);
  expect(rows.toSorted()).toEqual(
    folderNames.map((name) => [name, may(rightsOf(name)).join(", ")]).toSorted(),
  );
});

test("outbound.md has the times after which a delivery is tried again", () => {
  const unitMs: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, h: 3_600_000 };
  const [[, schedule = ""] = []] = table("outbound", "Retries");
  const named = [...schedule.matchAll(/(\d+) (s|min|h)\b/g)].map(
    ([, count, unit = ""]) => Number(count) * (unitMs[unit] ?? 0),
  );
  const ofProgram = named.map((_, index) => nextAttemptAt({ failures: index + 1, now: 0, random: 0.5 }));
  expect(named).toEqual(ofProgram);
  expect(nextAttemptAt({ failures: named.length + 1, now: 0, random: 0.5 })).toBe(named.at(-1));
});

describe("lists of names", () => {
  test.each<[string, string, readonly string[]]>([
    ["file-exchange", "Once", fileStates],
    ["integrations", "Mapping", importKinds],
    ["appointments", "Capacity", capacityNames],
    ["outbound", "Messages to customers", messageEvents],
    ["outbound", "Targets", targetTypes],
  ])("%s.md, %s, is that of the program", (page, heading, names) => {
    const named = table(page, heading).flatMap(([cell = ""]) => spansOf(cell));
    expect(named.toSorted()).toEqual([...names].toSorted());
  });
});

describe("limits.md", () => {
  const settings = new Map(settingsBelow(configSchema).map((setting) => [setting.path, setting]));
  const rows = textOf(specificationPage("limits"))
    .split("\n")
    .filter((line) => /^\| `[a-z]+\./.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim().replaceAll("`", "")));

  function shownDefault({ setting }: ListedSetting): string {
    const { default: value, dropgate } = setting;
    return dropgate.kind === "size" ? formatSize(Number(value)) : String(value);
  }

  test("says the default of each setting that it names", () => {
    expect(rows.length).toBeGreaterThan(40);
    const expected = rows.map(([, path = ""]) => {
      const setting = settings.get(path);
      return [path, setting === undefined ? "no such setting" : shownDefault(setting)];
    });
    expect(rows.map(([, path, value]) => [path, value])).toEqual(expected);
  });

  test("names every setting that is a maximum", () => {
    const named = new Set(rows.map(([, path]) => path));
    const maxima = [...settings.keys()].filter((path) => /\.max[A-Z]\w*$/.test(path));
    expect(maxima.filter((path) => !named.has(path))).toEqual([]);
  });
});

describe("operation.md", () => {
  async function helpOf(words: readonly string[]): Promise<string> {
    let text = "";
    const output = { write: (piece: string) => (text += piece) };
    await runCli([...words, "--help"], { env: {}, cwd: projectFolder, stdout: output, stderr: output });
    return text;
  }

  /** The commands below one, each with all its words. */
  async function commandsBelow(words: readonly string[]): Promise<string[]> {
    const [own = "", list = ""] = (await helpOf(words)).split(/^Commands:$/m);
    const names = [...list.matchAll(/^ {2}(\w[\w-]*)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "help");
    if (names.length === 0) return [words.join(" ")];
    const below = (await Promise.all(names.map((name) => commandsBelow([...words, name])))).flat();
    // One that prints a list by itself.
    return own.includes("--json") ? [words.join(" "), ...below] : below;
  }

  test("has every command", async () => {
    const named = table("operation", "Commands")
      .flatMap(([cell = ""]) => spansOf(cell))
      .map((span) => span.replace(/^dropgate /, "").replace(/ --.*$/, ""));
    expect(named.toSorted()).toEqual((await commandsBelow([])).toSorted());
  });
});
