import { describe, expect, it } from "vitest";
import { type BanOptions, createFailedSignIns, type SignInPeer } from "./failed-sign-ins.ts";

const minute = 60_000;

const defaults: BanOptions = {
  enabled: true,
  maxScore: 15,
  windowMs: 30 * minute,
  banMs: 30 * minute,
  growthPercent: 50,
  allow: [],
};

function setUp(options: Partial<BanOptions> = {}) {
  const time = { now: 1_000_000 };
  const warnings: unknown[] = [];
  const failures = createFailedSignIns({
    clock: { now: () => time.now },
    log: { warn: (line: unknown) => warnings.push(line) },
    options: { ...defaults, ...options },
  });
  return { failures, time, warnings };
}

function peer(address: string, change: Partial<SignInPeer> = {}): SignInPeer {
  return { address, userName: "host", isKnownUser: true, ...change };
}

function repeat(times: number, action: (index: number) => void): void {
  for (let index = 0; index < times; index += 1) action(index);
}

describe("an address", () => {
  it("is banned for 30 minutes at the fifteenth wrong password, not at the fourteenth", () => {
    const { failures, time, warnings } = setUp();
    repeat(14, () => failures.recordFailure(peer("192.0.2.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
    failures.recordFailure(peer("192.0.2.1"));
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * minute);
    expect(failures.bannedForMs("192.0.2.2")).toBe(0);
    expect(warnings).toHaveLength(1);
    time.now += 30 * minute;
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
  });

  it.each([
    [
      "unknown user",
      8,
      (failures: ReturnType<typeof setUp>["failures"]) =>
        failures.recordFailure(peer("192.0.2.1", { isKnownUser: false })),
    ],
    [
      "broken limit",
      5,
      (failures: ReturnType<typeof setUp>["failures"]) => failures.recordBrokenLimit("192.0.2.1"),
    ],
  ])("is banned after fewer of a graver kind: %s, %i times", (_, times, fail) => {
    const { failures } = setUp();
    repeat(times - 1, () => fail(failures));
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
    fail(failures);
    expect(failures.bannedForMs("192.0.2.1")).toBeGreaterThan(0);
  });

  it("is not banned for failures spread over more than the window", () => {
    const { failures, time } = setUp();
    repeat(100, () => {
      failures.recordFailure(peer("192.0.2.1"));
      time.now += 2.5 * minute;
    });
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
  });

  it("is banned half as long again each further time", () => {
    const { failures, time } = setUp();
    for (const expected of [30, 45, 67.5]) {
      repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
      expect(failures.bannedForMs("192.0.2.1")).toBe(expected * minute);
      time.now += expected * minute;
    }
  });

  it("is forgiven after a week without a ban, and never banned for more than 30 days", () => {
    const { failures, time } = setUp({ growthPercent: 1_000 });
    repeat(6, () => {
      time.now += failures.bannedForMs("192.0.2.1");
      repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
    });
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * 24 * 60 * minute);
    time.now += 38 * 24 * 60 * minute;
    repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * minute);
  });

  it("of IPv6 is counted with its whole /64, a mapped one as IPv4", () => {
    const { failures } = setUp();
    repeat(15, (index) => failures.recordFailure(peer(`2001:db8::${(index + 1).toString(16)}`)));
    expect(failures.bannedForMs("2001:db8::ffff")).toBeGreaterThan(0);
    expect(failures.bannedForMs("2001:db8:0:1::1")).toBe(0);
    repeat(15, () => failures.recordFailure(peer("::ffff:192.0.2.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBeGreaterThan(0);
  });

  it("on the allow list is never counted, and put there during a ban it is free", () => {
    const { failures } = setUp({ allow: ["192.0.2.0/24"] });
    repeat(50, () => failures.recordFailure(peer("192.0.2.1")));
    repeat(50, () => failures.recordFailure(peer("198.51.100.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
    expect(failures.bannedForMs("198.51.100.1")).toBeGreaterThan(0);
    failures.configure({ ...defaults, allow: ["198.51.100.1"] });
    expect(failures.bannedForMs("198.51.100.1")).toBe(0);
  });

  it("is not banned while bans are switched off", () => {
    const { failures } = setUp({ enabled: false });
    repeat(50, () => failures.recordFailure(peer("192.0.2.1")));
    failures.configure(defaults);
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
  });
});

describe("a user whose password is guessed from everywhere", () => {
  function attack(failures: ReturnType<typeof setUp>["failures"], change: Partial<SignInPeer> = {}): void {
    repeat(15, (index) => failures.recordFailure(peer(`198.51.100.${index}`, change)));
  }

  it("is closed to strangers and open to addresses from which it has signed in", () => {
    const { failures } = setUp();
    failures.recordSuccess(peer("192.0.2.1"));
    attack(failures);
    expect(failures.closedForMs(peer("203.0.113.1"))).toBe(30 * minute);
    expect(failures.closedForMs(peer("192.0.2.1"))).toBe(0);
    expect(failures.closedForMs(peer("203.0.113.1", { userName: "other" }))).toBe(0);
  });

  it("is open to all again when the points have run out", () => {
    const { failures, time } = setUp();
    attack(failures);
    time.now += 30 * minute;
    expect(failures.closedForMs(peer("203.0.113.1"))).toBe(0);
  });

  it("looks the same whether the user exists or not", () => {
    const { failures } = setUp();
    attack(failures, { userName: "nobody", isKnownUser: false });
    expect(failures.closedForMs(peer("203.0.113.1", { userName: "nobody", isKnownUser: false }))).toBe(
      30 * minute,
    );
  });

  it("is not closed by one address alone, which is banned itself", () => {
    const { failures } = setUp();
    repeat(30, () => failures.recordFailure(peer("198.51.100.1")));
    expect(failures.closedForMs(peer("203.0.113.1"))).toBe(0);
  });

  it("stays closed while made-up names come in masses", () => {
    const { failures } = setUp();
    attack(failures);
    repeat(60_000, (index) =>
      failures.recordFailure(
        peer(`2001:db8:${(index % 65_536).toString(16)}::1`, { userName: `u${index}`, isKnownUser: false }),
      ),
    );
    expect(failures.closedForMs(peer("203.0.113.1"))).toBeGreaterThan(0);
  });
});

it("hundreds of thousands of addresses and long names take bounded memory", () => {
  const { failures } = setUp();
  const before = process.memoryUsage().heapUsed;
  const longName = "x".repeat(2_000);
  repeat(300_000, (index) => {
    const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    failures.recordFailure(peer(address, { userName: `${longName}${index % 50_000}`, isKnownUser: false }));
  });
  globalThis.gc?.();
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(150);
});
