import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createConnectionGuard } from "./connection-guard.ts";

const limits = { maxConnections: 10, maxConnectionsPerAddress: 2 };

test("addresses of one IPv6 network are counted together, others apart", () => {
  const broken: string[] = [];
  const guard = createConnectionGuard((address) => broken.push(address));
  const admit = (address: string) => guard.admit(new Socket(), address, limits);
  expect(["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(admit)).toEqual([
    "admitted",
    "admitted",
    "tooManyOfAddress",
  ]);
  expect(admit("2001:db8:0:1::1")).toBe("admitted");
  expect(admit("192.0.2.1")).toBe("admitted");
  expect(broken).toEqual(["2001:db8::3"]);
});

test("a socket that closes makes room for the next of its address", () => {
  const guard = createConnectionGuard(() => undefined);
  const first = new Socket();
  expect(guard.admit(first, "192.0.2.1", limits)).toBe("admitted");
  expect(guard.admit(new Socket(), "192.0.2.1", limits)).toBe("admitted");
  expect(guard.admit(new Socket(), "192.0.2.1", limits)).toBe("tooManyOfAddress");
  first.emit("close");
  expect(guard.admit(new Socket(), "192.0.2.1", limits)).toBe("admitted");
});
