import { describe, expect, it } from "vitest";
import { createAddressSet, normaliseAddress, peerKeyOf } from "./address-range.ts";

describe("what a peer is counted by", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::ffff", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["no address", "no address"],
  ])("of %s is %s", (address, key) => {
    expect(peerKeyOf(address)).toBe(key);
  });
});

describe("a normalised address", () => {
  it("of a mapped IPv4 address is the IPv4 address, in both spellings", () => {
    expect(normaliseAddress("::ffff:10.1.2.3")).toBe("10.1.2.3");
    expect(normaliseAddress("::ffff:a01:203")).toBe("10.1.2.3");
  });

  it("of an IPv6 address loses its zone only", () => {
    expect(normaliseAddress("fe80::1%eth0")).toBe("fe80::1");
  });
});

describe("an address set", () => {
  const set = createAddressSet(["10.1.2.3/8", "192.0.2.7", "2001:db8::/32", "::ffff:203.0.113.0/120"]);

  it.each(["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.7", "2001:db8:ffff::1", "203.0.113.9"])(
    "has %s",
    (address) => {
      expect(set.has(address)).toBe(true);
    },
  );

  it.each(["11.0.0.1", "192.0.2.8", "::ffff:192.0.2.8", "2001:db9::1", "203.0.114.1", "no address", ""])(
    "does not have %s",
    (address) => {
      expect(set.has(address)).toBe(false);
    },
  );

  it("of no ranges has nothing", () => {
    expect(createAddressSet([]).has("127.0.0.1")).toBe(false);
  });
});
