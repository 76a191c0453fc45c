/** What is mutated, and the tests that have to see it: those beside the code, and quick ones of `test/integration`. */

export interface Room {
  /** A folder or file of the source. */
  readonly source: string;
  /** As `vitest run` takes them: parts of paths. */
  readonly tests: readonly string[];
}

/** The smallest first. */
export const rooms: readonly Room[] = [
  {
    source: "src/store/database/groups/group-commit.ts",
    tests: ["src/store/database/groups/group-commit.test.ts", "src/store/database/store-faults.test.ts"],
  },
  { source: "src/endpoints/http/console/session", tests: ["src/endpoints/http/console/session/"] },
  { source: "src/endpoints/http/console/kit", tests: ["src/endpoints/http/console/kit/"] },
  { source: "src/sign-in/console-sessions.ts", tests: ["src/sign-in/console-sessions.test.ts"] },
  { source: "src/app/console/running-act.ts", tests: ["src/app/console/acts/"] },
  { source: "src/app/console/acts", tests: ["src/app/console/acts/"] },
  {
    source: "src/app/console/queries",
    tests: ["src/app/console/queries/", "test/integration/console-stop-load.test.ts"],
  },
  {
    source: "src/operations/stops",
    tests: [
      "src/operations/stops/",
      "test/integration/gateway-stops.test.ts",
      "test/integration/sent-again.test.ts",
      "test/integration/stop-order.test.ts",
      "test/integration/stops-of-loads-under-way.test.ts",
    ],
  },
  {
    source: "src/outbound",
    tests: [
      "src/outbound/",
      "src/operations/deliveries/",
      "test/integration/messages-sending.test.ts",
      "test/integration/export-delivery.test.ts",
    ],
  },
  { source: "src/exchange", tests: ["src/exchange/"] },
  { source: "src/inbound", tests: ["src/inbound/"] },
];

/** The room that a path of the command line lies in, cut down to it; undefined when there is none. */
export function roomAt(path: string): Room | undefined {
  const source = path.replace(/\/+$/, "");
  const room = rooms.find((one) => source === one.source || source.startsWith(`${one.source}/`));
  return room === undefined ? undefined : { ...room, source };
}
