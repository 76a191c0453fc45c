import { expect, test } from "vitest";
import { faultOfAddressRange, faultOfHost, isLoopbackHost } from "./address-range.ts";

test.each(["127.0.0.1", "10.0.0.0/8", "127.0.0.1/8", "0.0.0.0/0", "::1", "::1/128", "2001:db8::/32"])(
  "%s is an address or a range",
  (text) => {
    expect(faultOfAddressRange(text)).toBeUndefined();
  },
);

test.each([
  ["10.0.0.0/33", "0 to 32"],
  ["::1/129", "0 to 128"],
  ["10.0.0.0/", "0 to 32"],
  ["10.0.0.0/08", "0 to 32"],
  ["10.0.0.0/-1", "0 to 32"],
  ["10.0.0.0/8/8", "CIDR"],
  ["10.0.0", "CIDR"],
  ["fe80::1%eth0", "CIDR"],
  ["localhost", "CIDR"],
  ["", "CIDR"],
])("`%s` is refused, naming %s", (text, named) => {
  expect(faultOfAddressRange(text)).toContain(named);
});

test.each(["127.0.0.1", "0.0.0.0", "::", "localhost", "edge-1.example.org"])(
  "%s can be listened on",
  (text) => {
    expect(faultOfHost(text)).toBeUndefined();
  },
);

test.each(["*", "", "127.0.0.300", "a b", "-x", "http://x", "host:80", `${"a".repeat(64)}.org`])(
  "`%s` cannot be listened on",
  (text) => {
    expect(faultOfHost(text)).toBeDefined();
  },
);

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["127.example.org", false],
])("%s as loopback is %s", (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});
