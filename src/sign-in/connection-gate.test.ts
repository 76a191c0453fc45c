import { beforeEach, describe, expect, test } from "vitest";
import { ConnectionGate, type ConnectionLimits, type Place } from "./connection-gate.ts";

let limits: ConnectionLimits;
let known: Set<string>;
let banned: Set<string>;
let broken: string[];
let log: { readonly message: string; readonly fields: object }[];
/** Names of connections that had to make room, in order. */
let displaced: string[];

beforeEach(() => {
  limits = { maxConnections: 3, maxUnauthenticatedConnections: 4, maxConnectionsPerAddress: 3 };
  known = new Set();
  banned = new Set();
  broken = [];
  log = [];
  displaced = [];
});

function createGate(change: { letsInBanned?: boolean } = {}): ConnectionGate {
  const keep = (fields: unknown, message?: unknown) => {
    log.push({ fields: fields as object, message: String(message) });
  };
  return new ConnectionGate({
    name: "test",
    standing: {
      bannedForMs: (address) => (banned.has(address) ? 1_000 : 0),
      hasSignedInLately: (address) => known.has(address),
      reportBrokenLimit: (address) => void broken.push(address),
      reportSilence: () => undefined,
    },
    limits: () => limits,
    log: { info: keep, warn: keep },
    ...change,
  });
}

/** The place, or undefined for a connection that was refused. */
function come(gate: ConnectionGate, address: string, more: { name?: string; isProxy?: boolean } = {}) {
  const { name = address, ...rest } = more;
  const admission = gate.admit({ address, ...rest, displace: () => void displaced.push(name) });
  return admission.kind === "admitted" ? admission.place : undefined;
}

function mustCome(gate: ConnectionGate, address: string, more: { name?: string } = {}): Place {
  const place = come(gate, address, more);
  if (place === undefined) throw new Error(`${address} was refused`);
  return place;
}

describe("the figures of a server", () => {
  test("count who is there, who has signed in, and who was turned away, by reason", () => {
    const gate = createGate();
    banned.add("10.0.0.9");
    come(gate, "10.0.0.9");
    const places = ["a", "b", "c"].map((name) => mustCome(gate, "10.0.0.1", { name }));
    come(gate, "10.0.0.1");
    expect(gate.statistics()).toMatchObject({ open: 3, signedIn: 0 });
    for (const place of places) place.signIn();
    const late = mustCome(gate, "10.0.0.2");
    expect(late.signIn()).toBe(false);
    places[0]?.leave();
    for (const address of ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]) come(gate, address);
    gate.close();
    come(gate, "10.0.0.7");
    expect(gate.statistics()).toEqual({
      ...{ open: 6, signedIn: 2 },
      refused: { stopping: 1, banned: 1, too_many: 1, too_many_of_address: 1, displaced: 1 },
    });
  });
});

describe("a pool that is full", () => {
  test("takes the newcomer in place of the oldest connection of the address that holds most of it", () => {
    const gate = createGate();
    come(gate, "10.0.0.2", { name: "single" });
    for (const name of ["first", "second", "third"]) come(gate, "10.0.0.1", { name });
    expect(come(gate, "10.0.0.3")).toBeDefined();
    expect(displaced).toEqual(["first"]);
    expect(come(gate, "10.0.0.4")).toBeDefined();
    expect(displaced).toEqual(["first", "second"]);
  });

  test("lets the oldest of all go when each address holds as many", () => {
    const gate = createGate();
    for (const address of ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]) {
      come(gate, address);
    }
    expect(displaced).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  test("lets addresses that have signed in lately go last, even when they hold most", () => {
    known.add("10.0.0.1");
    const gate = createGate();
    for (const name of ["first", "second", "third"]) come(gate, "10.0.0.1", { name });
    for (const address of ["10.0.0.2", "10.0.0.3", "10.0.0.4"]) come(gate, address);
    expect(displaced).toEqual(["10.0.0.2", "10.0.0.3"]);
    for (const address of ["10.0.0.5", "10.0.0.6"]) known.add(address);
    come(gate, "10.0.0.5");
    come(gate, "10.0.0.6");
    expect(displaced.slice(2)).toEqual(["10.0.0.4", "first"]);
  });

  test("counts an address as known from its first sign-in on, also for what it opened before", () => {
    const gate = createGate();
    const [, second] = [mustCome(gate, "10.0.0.1", { name: "waiting" }), mustCome(gate, "10.0.0.1")];
    second.signIn();
    for (const address of ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"]) come(gate, address);
    expect(displaced).toEqual(["10.0.0.2"]);
  });

  test("counts an IPv6 network of 64 bits as one address", () => {
    const gate = createGate();
    come(gate, "10.0.0.1");
    come(gate, "2001:db8::1", { name: "first of the network" });
    come(gate, "2001:db8::2");
    come(gate, "2001:db8:0:1::1");
    come(gate, "10.0.0.2");
    expect(displaced).toEqual(["first of the network"]);
  });

  test("is held to a smaller size after a reload, with the next newcomer", () => {
    const gate = createGate();
    for (let index = 1; index <= 4; index += 1) come(gate, `10.0.0.${index}`);
    limits = { ...limits, maxUnauthenticatedConnections: 2 };
    come(gate, "10.0.0.5");
    expect(displaced).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
  });
});

describe("connections that are signed in", () => {
  test("keep their places however many come that are not, and free those of the pool", () => {
    const gate = createGate();
    for (let index = 0; index < 3; index += 1) expect(mustCome(gate, "10.0.0.1").signIn()).toBe(true);
    for (let index = 0; index < 50; index += 1) come(gate, `10.0.1.${index}`);
    expect(displaced).toHaveLength(46);
    expect(displaced).not.toContain("10.0.0.1");
  });

  test("are only so many; who finds them all there stays in the pool until one has gone", () => {
    const gate = createGate();
    const places = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"].map((address) => mustCome(gate, address));
    expect(places.map((place) => place.signIn())).toEqual([true, true, true, false]);
    expect(places[3]?.isSignedIn).toBe(false);
    places[0]?.leave();
    places[0]?.leave();
    expect(places[3]?.signIn()).toBe(true);
    expect(mustCome(gate, "10.0.0.5").signIn()).toBe(false);
  });

  test("of a trusted proxy are so from the beginning, without a limit for its address", () => {
    limits = { ...limits, maxConnectionsPerAddress: 1 };
    const gate = createGate();
    const proxies = [1, 2, 3, 4].map(() => come(gate, "10.0.0.1", { isProxy: true }));
    expect(proxies.map((place) => place?.isSignedIn)).toEqual([true, true, true, undefined]);
    for (let index = 0; index < 10; index += 1) come(gate, `10.0.1.${index}`);
    expect(displaced).not.toContain("10.0.0.1");
  });
});

describe("an address over its limit", () => {
  test("is refused, whether signed in or not, and reported once a burst", () => {
    const gate = createGate();
    const places = [1, 2, 3].map(() => mustCome(gate, "10.0.0.1"));
    places[0]?.signIn();
    for (let index = 0; index < 5; index += 1) expect(come(gate, "10.0.0.1")).toBeUndefined();
    expect(broken).toEqual(["10.0.0.1"]);
    places[0]?.leave();
    expect(come(gate, "10.0.0.1")).toBeDefined();
    expect(come(gate, "10.0.0.1")).toBeUndefined();
    expect(broken).toEqual(["10.0.0.1", "10.0.0.1"]);
  });

  test("is refused while it is banned, unless the protocol tells it itself, or it is a proxy's", () => {
    banned.add("10.0.0.1");
    expect(come(createGate(), "10.0.0.1")).toBeUndefined();
    expect(come(createGate({ letsInBanned: true }), "10.0.0.1")).toBeDefined();
    expect(come(createGate(), "10.0.0.1", { isProxy: true })).toBeDefined();
  });
});

test("a gate that is closed lets nobody in", () => {
  const gate = createGate();
  gate.close();
  expect(come(gate, "10.0.0.1")).toBeUndefined();
});

test("a flood is a few lines in the log and a sum", () => {
  const gate = createGate();
  for (let index = 0; index < 5_000; index += 1) come(gate, `10.0.${index >> 8}.${index & 255}`);
  banned.add("10.9.9.9");
  for (let index = 0; index < 5_000; index += 1) come(gate, "10.9.9.9");
  gate.close();
  expect(log.length).toBeLessThan(30);
  expect(log.slice(-2)).toMatchObject([
    { message: "test connection dropped: too many are not signed in", fields: { more: 4_986 } },
    { message: "test connection refused", fields: { more: 4_990, address: { most: { "10.9.9.9": 4_990 } } } },
  ]);
});
