/** What every target does, whatever is behind it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "../../src/outbound/target.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "./deliveries.ts";
import { freePort } from "./server-process.ts";
import { startBlackHole, startLink, type TcpLink } from "./tcp-link.ts";
import { waitFor } from "./wait-for.ts";

export interface Network {
  readonly port: number;
  /** A target at another port, with these settings and times, `testTimes` unless given. */
  targetAt(port: number, times?: Partial<typeof testTimes>): Target;
  /** After so many bytes of the client, counted from when a file of 5 MB is read, its upload is amid. */
  readonly midwayBytes: number;
  /** A delay of each piece that makes a delivery take longer than a second. */
  readonly slowMs: number;
}

export interface TargetSite {
  target(): Target;
  /** Undefined where there are no credentials. */
  readonly wrongCredentials?: () => Target;
  /** Every file that is there, hidden ones too; those of a delivery's folder with `folder/` before their names. */
  files(): Promise<ReadonlyMap<string, Buffer>>;
  /** Puts a file of somebody else there; undefined where names do not collide. */
  readonly put?: (name: string, bytes: Buffer) => Promise<void>;
  /** Removes every file. */
  clear(): Promise<void>;
  readonly network?: Network;
  end(): Promise<void>;
}

export interface Traits {
  /** Whether a name can be taken there; then the site has `put`. */
  readonly hasNames: boolean;
  /** Whether one signs in; then the site has `wrongCredentials`. */
  readonly hasCredentials: boolean;
}

/** What a network target in a test is given when it is made, in milliseconds: no stall of a busy machine is a fault. */
export const testTimes = { timeoutMs: 20_000, connectMs: 15_000, silenceMs: 60_000 };
/** For servers that say nothing. */
const hurried = { connectMs: 4_000, silenceMs: 1_000 };
/** For servers that take their time with each piece. */
const attentive = { silenceMs: 3_000 };

const big = Buffer.alloc(5_000_000, "0123456789abcdef");
/** Legal, and easily taken for options, hidden files, devices or folders. */
const oddNames = [
  "-rf.xml",
  "..xml",
  ".5_20261105_080000.xml",
  "con.xml",
  "a..b",
  "_",
  "1",
  `${"n".repeat(196)}.xml`,
];
const illegalNames = [
  "",
  ".",
  "..",
  "a/b.xml",
  "../a.xml",
  "A.xml",
  "a b.xml",
  "ä.xml",
  "a\0.xml",
  "a\r\nb.xml",
  "n".repeat(201),
];

/** Runs the suite; `open` starts what the target delivers to. */
export function describeTarget(name: string, open: () => Promise<TargetSite>, traits: Traits): void {
  let site: TargetSite;
  let target: Target;
  const namesThere = async () => [...(await site.files()).keys()].sort();
  const textOf = async (file: string) => (await site.files()).get(file)?.toString();

  beforeAll(async () => {
    site = await open();
    target = site.target();
  });
  afterAll(async () => {
    await target.close();
    await site.end();
  });
  afterEach(() => site.clear());

  describe(`${name}, as every target`, () => {
    test("delivers a new file, byte for byte, and nothing else", async () => {
      const outcome = await target.deliver(deliveryOf([fileOf("a.xml", "<a>ü</a>")]), never);
      expect(outcome).toEqual({ kind: "delivered" });
      expect(await namesThere()).toEqual(["a.xml"]);
      expect(await textOf("a.xml")).toBe("<a>ü</a>");
    });

    test("the same delivery again is delivered, and changes nothing", async () => {
      const delivery = deliveryOf([fileOf("a.xml", "one")]);
      expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
      expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
      expect(await namesThere()).toEqual(["a.xml"]);
      expect(await textOf("a.xml")).toBe("one");
    });

    test("several files get a folder, in their order, the last when the others are there", async () => {
      const seen: string[][] = [];
      const look = async () => void seen.push(await namesThere());
      const files = [fileOf("b.xml", "b"), fileOf("a.xml", "a"), fileOf("manifest.xml", "m", look)];
      const delivery = deliveryOf(files, { directory: "night-1" });
      expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
      expect(seen).toEqual([["night-1/a.xml", "night-1/b.xml"]]);
      expect(await namesThere()).toEqual(["night-1/a.xml", "night-1/b.xml", "night-1/manifest.xml"]);
      expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
      expect(await namesThere()).toHaveLength(3);
    });

    test("empty files and large ones arrive whole", async () => {
      const delivery = deliveryOf([fileOf("empty.xml", ""), fileOf("large.xml", big)]);
      expect(await target.deliver(delivery, never)).toEqual({ kind: "delivered" });
      const files = await site.files();
      expect(files.get("empty.xml")?.length).toBe(0);
      expect(files.get("large.xml")?.equals(big)).toBe(true);
    });

    test("odd but legal names arrive as they are", async () => {
      for (const odd of oddNames) {
        expect([odd, faultOf(await target.deliver(deliveryOf([fileOf(odd, odd)]), never))]).toEqual([
          odd,
          "delivered",
        ]);
      }
      expect(await namesThere()).toEqual([...oddNames].sort());
    });

    test("names that lead elsewhere are refused for good, and nothing is sent", async () => {
      for (const illegal of illegalNames) {
        const outcomes = [
          await target.deliver(deliveryOf([fileOf("a.xml", "a"), fileOf(illegal, "x")]), never),
          await target.deliver(deliveryOf([fileOf("a.xml", "a")], { directory: illegal }), never),
        ];
        for (const outcome of outcomes) {
          expect(outcome).toMatchObject({ fault: "content", isPermanent: true, scope: "delivery" });
        }
      }
      expect(await namesThere()).toEqual([]);
    });

    test("a file that cannot be read on this side is told, and leaves nothing behind", async () => {
      const broken = fileOf("a.xml", "a", () => Promise.reject(new Error("the spool is gone")));
      const outcome = await target.deliver(deliveryOf([broken]), never);
      expect(outcome).toMatchObject({ fault: "content", isPermanent: false, scope: "delivery" });
      expect(messageOf(outcome)).toContain("the spool is gone");
      expect(await namesThere()).toEqual([]);
      expect(faultOf(await target.deliver(deliveryOf([fileOf("a.xml", "a")]), never))).toBe("delivered");
    });

    test("aborted, it rejects with the reason; the same delivery can be sent afterwards", async () => {
      const reason = new Error("the service stops");
      await expect(
        target.deliver(deliveryOf([fileOf("a.xml", "a")]), AbortSignal.abort(reason)),
      ).rejects.toBe(reason);
      const controller = new AbortController();
      const aborting = fileOf("b.xml", "b", () => controller.abort(reason));
      const delivery = deliveryOf([aborting]);
      await expect(target.deliver(delivery, controller.signal)).rejects.toBe(reason);
      expect(faultOf(await target.deliver({ ...delivery, files: [fileOf("b.xml", "b")] }, never))).toBe(
        "delivered",
      );
      await waitFor("no temporary file", async () => (await namesThere()).join() === "b.xml");
    });

    test("closed twice, it delivers again", async () => {
      expect(faultOf(await target.deliver(deliveryOf([fileOf("a.xml", "a")]), never))).toBe("delivered");
      await target.close();
      await target.close();
      expect(faultOf(await target.deliver(deliveryOf([fileOf("b.xml", "b")]), never))).toBe("delivered");
    });

    test("a probe succeeds and leaves nothing behind", async () => {
      expect(await target.probe(never)).toEqual({ kind: "delivered" });
      expect(await namesThere()).toEqual([]);
    });

    test("as many deliveries at a time as it promises, and twice as many in turn", async () => {
      expect(target.concurrency).toBeGreaterThan(1);
      const all = Array.from({ length: 2 * target.concurrency }, (_, index) =>
        fileOf(`c${index}.xml`, `c${index}`),
      );
      const rest = all.values();
      const runner = async () => {
        for (const file of rest)
          expect(faultOf(await target.deliver(deliveryOf([file]), never))).toBe("delivered");
      };
      await Promise.all(Array.from({ length: target.concurrency }, runner));
      expect(await namesThere()).toEqual(all.map((file) => file.name).sort());
    });

    if (traits.hasNames)
      test("a name that has other bytes is taken, and these stay", async () => {
        for (const other of ["ANOTHER", "longer than ours", ""]) {
          await site.put?.("a.xml", Buffer.from(other));
          const outcome = await target.deliver(deliveryOf([fileOf("a.xml", "OUR OWN")]), never);
          expect(outcome).toEqual({ kind: "nameTaken", name: "a.xml" });
          expect(await textOf("a.xml")).toBe(other);
          expect(await namesThere()).toEqual(["a.xml"]);
        }
      });

    if (traits.hasCredentials)
      test("wrong credentials are permanent, and the trouble of the whole target", async () => {
        const stranger = site.wrongCredentials?.() ?? target;
        const outcome = await stranger.deliver(deliveryOf([fileOf("a.xml", "a")]), never);
        const probed = await stranger.probe(never);
        await stranger.close();
        for (const one of [outcome, probed]) {
          expect(one).toMatchObject({ fault: "credentials", isPermanent: true, scope: "target" });
        }
        expect(await namesThere()).toEqual([]);
      });
  });
}

/** The faults of a network, for the targets that have one. */
export function describeNetworkFaults(
  name: string,
  open: () => Promise<TargetSite & { readonly network: Network }>,
): void {
  let site: TargetSite & { readonly network: Network };
  let link: TcpLink;
  let target: Target;
  const namesThere = async () => [...(await site.files()).keys()].sort();

  beforeAll(async () => {
    site = await open();
  });
  afterAll(() => site.end());
  beforeEach(async () => {
    link = await startLink(site.network.port);
    target = site.network.targetAt(link.port);
  });
  afterEach(async () => {
    await target.close();
    await link.end();
    await site.clear();
  });

  describe(`${name}, when the network or the server fails`, () => {
    test("nobody listens: unreachable", async () => {
      const nowhere = site.network.targetAt(await freePort());
      const outcome = await nowhere.deliver(deliveryOf([fileOf("a.xml", "a")]), never);
      await nowhere.close();
      expect(outcome).toMatchObject({ fault: "unreachable", isPermanent: false, scope: "target" });
      expect(messageOf(outcome)).toContain("nothing listens there");
    });

    test("a server that takes connections and says nothing: a time-out, also for a probe", async () => {
      const hole = await startBlackHole();
      const silent = site.network.targetAt(hole.port, hurried);
      const outcomes = [
        await silent.deliver(deliveryOf([fileOf("a.xml", "a")]), never),
        await silent.probe(never),
      ];
      await silent.close();
      await hole.end();
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ fault: "timeout", isPermanent: false, scope: "target" });
      }
    });

    test("aborted while the server says nothing, it rejects at once", async () => {
      const hole = await startBlackHole();
      const silent = site.network.targetAt(hole.port);
      const controller = new AbortController();
      const delivering = silent.deliver(deliveryOf([fileOf("a.xml", "a")]), controller.signal);
      controller.abort(new Error("stopping"));
      await expect(delivering).rejects.toThrow("stopping");
      await silent.close();
      await hole.end();
    });

    test("a hang in the middle: a time-out; afterwards it is delivered, and no part is left", async () => {
      const freeze = () => link.freezeAfter(site.network.midwayBytes);
      const delivery = deliveryOf([fileOf("large.xml", big, freeze)]);
      const impatient = site.network.targetAt(link.port, hurried);
      const outcome = await impatient.deliver(delivery, never);
      await impatient.close();
      expect(outcome).toMatchObject({ fault: "timeout", isPermanent: false, scope: "target" });
      link.thaw();
      expect(faultOf(await target.deliver({ ...delivery, files: [fileOf("large.xml", big)] }, never))).toBe(
        "delivered",
      );
      expect(await namesThere()).toEqual(["large.xml"]);
    });

    test("a cut in the middle: the connection is lost; another delivery removes what is left", async () => {
      const cut = () => link.cutAfter(site.network.midwayBytes);
      const outcome = await target.deliver(deliveryOf([fileOf("large.xml", big, cut)]), never);
      expect(outcome).toMatchObject({ fault: "connectionLost", isPermanent: false, scope: "target" });
      link.thaw();
      expect(faultOf(await target.deliver(deliveryOf([fileOf("other.xml", "o")]), never))).toBe("delivered");
      expect(await namesThere()).toEqual(["other.xml"]);
    });

    test("slow but alive is delivered", async () => {
      const begun = performance.now();
      const slowDown = () => link.slowDown(3 * site.network.slowMs);
      const listening = site.network.targetAt(link.port, attentive);
      const outcome = await listening.deliver(deliveryOf([fileOf("a.xml", "a", slowDown)]), never);
      await listening.close();
      expect(outcome).toEqual({ kind: "delivered" });
      expect(performance.now() - begun).toBeGreaterThan(attentive.silenceMs);
    });

    test("a connection that died while it was kept is replaced without a fault", async () => {
      expect(faultOf(await target.deliver(deliveryOf([fileOf("a.xml", "a")]), never))).toBe("delivered");
      const before = link.connections();
      link.cutOnce();
      expect(faultOf(await target.deliver(deliveryOf([fileOf("b.xml", "b")]), never))).toBe("delivered");
      expect(link.connections()).toBe(before + 1);
      expect(await namesThere()).toEqual(["a.xml", "b.xml"]);
    });
  });
}
