import { describe, expect, it } from "vitest";
import { type BanOptions, FailedSignIns, type SignInPeer } from "./failed-sign-ins.ts";
import { dayMs, minuteMs } from "../lib/durations.ts";

const defaults: BanOptions = {
  enabled: true,
  maxScore: 15,
  windowMs: 30 * minuteMs,
  banMs: 30 * minuteMs,
  growthPercent: 50,
  allow: [],
};

function setUp(options: Partial<BanOptions> = {}) {
  const time = { now: 1_000_000 };
  const warnings: unknown[] = [];
  /** Addresses from which somebody has signed in lately. */
  const known = new Set<string>();
  const failures = new FailedSignIns({
    clock: { now: () => time.now },
    log: { warn: (line: unknown) => warnings.push(line) },
    options: { ...defaults, ...options },
    hasSignedInLately: (address) => known.has(address),
  });
  return { failures, time, warnings, known };
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
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * minuteMs);
    expect(failures.bannedForMs("192.0.2.2")).toBe(0);
    expect(warnings).toHaveLength(1);
    time.now += 30 * minuteMs;
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
  });

  it("is banned for unknown users as soon as for wrong passwords: the count does not tell who exists", () => {
    const { failures } = setUp();
    repeat(14, () => failures.recordFailure(peer("192.0.2.1", { isKnownUser: false })));
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
    failures.recordFailure(peer("192.0.2.1", { isKnownUser: false }));
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * minuteMs);
  });

  it("is banned after five broken limits, and after fifteen silent connections unless it is known", () => {
    const { failures, known } = setUp();
    const bannedForMs = (address: string) => failures.bannedForMs(address);
    known.add("192.0.2.3");
    repeat(4, () => failures.recordBrokenLimit("192.0.2.1"));
    repeat(14, () => failures.recordSilence("192.0.2.2"));
    repeat(100, () => failures.recordSilence("192.0.2.3"));
    expect(["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(bannedForMs)).toEqual([0, 0, 0]);
    failures.recordBrokenLimit("192.0.2.1");
    failures.recordSilence("192.0.2.2");
    const banned = ["192.0.2.1", "192.0.2.2"].map(bannedForMs);
    expect(banned).toEqual([30 * minuteMs, 30 * minuteMs]);
  });

  it("is not banned for failures spread over more than the window", () => {
    const { failures, time } = setUp();
    repeat(100, () => {
      failures.recordFailure(peer("192.0.2.1"));
      time.now += 2.5 * minuteMs;
    });
    expect(failures.bannedForMs("192.0.2.1")).toBe(0);
  });

  it("is banned half as long again each further time", () => {
    const { failures, time } = setUp();
    for (const expected of [30, 45, 67.5]) {
      repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
      expect(failures.bannedForMs("192.0.2.1")).toBe(expected * minuteMs);
      time.now += expected * minuteMs;
    }
  });

  it("is forgiven after a week without a ban, and never banned for more than 30 days", () => {
    const { failures, time } = setUp({ growthPercent: 1_000 });
    repeat(6, () => {
      time.now += failures.bannedForMs("192.0.2.1");
      repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
    });
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * dayMs);
    time.now += 38 * dayMs;
    repeat(15, () => failures.recordFailure(peer("192.0.2.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBe(30 * minuteMs);
  });

  it("of IPv6 is counted with its whole /64, a mapped one as IPv4", () => {
    const { failures } = setUp();
    repeat(15, (index) => failures.recordFailure(peer(`2001:db8::${(index + 1).toString(16)}`)));
    expect(failures.bannedForMs("2001:db8::ffff")).toBeGreaterThan(0);
    expect(failures.bannedForMs("2001:db8:0:1::1")).toBe(0);
    repeat(15, () => failures.recordFailure(peer("::ffff:192.0.2.1")));
    expect(failures.bannedForMs("192.0.2.1")).toBeGreaterThan(0);
  });

  it("of IPv6 is banned with its /48 after ten times the score from many /64s; who signed in lately is not", () => {
    const { failures, known } = setUp();
    const fail = (index: number) => failures.recordFailure(peer(`2001:db8:7:${index.toString(16)}::1`));
    repeat(149, fail);
    expect(failures.bannedForMs("2001:db8:7:ffff::1")).toBe(0);
    fail(149);
    known.add("2001:db8:7:aaaa::1");
    expect(failures.bannedForMs("2001:db8:7:ffff::1")).toBe(30 * minuteMs);
    expect(failures.bannedForMs("2001:db8:7:aaaa::1")).toBe(0);
    expect(failures.bannedForMs("2001:db8:8::1")).toBe(0);
    repeat(15, () => failures.recordFailure(peer("2001:db8:7:aaaa::1")));
    expect(failures.bannedForMs("2001:db8:7:aaaa::1")).toBe(30 * minuteMs);
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

  it.each([true, false])(
    "may be tried by each stranger once in a minute, existing (%s) or not",
    (isKnownUser) => {
      const { failures, time } = setUp();
      const stranger = peer("203.0.113.1", { isKnownUser });
      attack(failures, { isKnownUser });
      expect(failures.slowedForMs(stranger)).toBe(0);
      failures.recordTry(stranger);
      expect(failures.slowedForMs(stranger)).toBe(minuteMs);
      expect(failures.slowedForMs({ ...stranger, address: "203.0.113.2" })).toBe(0);
      expect(failures.slowedForMs({ ...stranger, userName: "other" })).toBe(0);
      time.now += minuteMs - 1;
      expect(failures.slowedForMs(stranger)).toBe(1);
      time.now += 1;
      expect(failures.slowedForMs(stranger)).toBe(0);
    },
  );

  it("may be tried as often as they like when the points have run out, and before there are enough", () => {
    const { failures, time } = setUp();
    const stranger = peer("203.0.113.1");
    failures.recordTry(stranger);
    expect(failures.slowedForMs(stranger)).toBe(0);
    attack(failures);
    time.now += 29.5 * minuteMs;
    failures.recordTry(stranger);
    expect(failures.slowedForMs(stranger)).toBe(minuteMs);
    time.now += 0.5 * minuteMs;
    expect(failures.slowedForMs(stranger)).toBe(0);
  });

  it("is not slowed by one address alone, which is banned itself", () => {
    const { failures } = setUp();
    repeat(30, () => failures.recordFailure(peer("198.51.100.1")));
    failures.recordTry(peer("203.0.113.1"));
    expect(failures.slowedForMs(peer("203.0.113.1"))).toBe(0);
  });

  it("stays slowed while made-up names come in masses", () => {
    const { failures } = setUp();
    attack(failures);
    repeat(60_000, (index) =>
      failures.recordFailure(
        peer(`2001:db8:${(index % 65_536).toString(16)}::1`, { userName: `u${index}`, isKnownUser: false }),
      ),
    );
    failures.recordTry(peer("203.0.113.1"));
    expect(failures.slowedForMs(peer("203.0.113.1"))).toBe(minuteMs);
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
