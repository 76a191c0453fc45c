import { describe, expect, it } from "vitest";
import { storeUrlFault } from "./store-url.ts";

describe("the address of the database", () => {
  it.each([
    "postgres://gate:s3cret@db.example:5432/dropgate",
    "postgresql://gate@[::1]/dropgate?sslmode=verify-full",
    "postgres://gate@db/dropgate?sslmode=require&sslrootcert=/etc/ca.pem&sslcert=/etc/a.pem&sslkey=/etc/a.key",
    "postgres:///dropgate?host=/run/postgresql&user=gate",
  ])("may be %s", (text) => {
    expect(storeUrlFault(text)).toBeUndefined();
  });

  it.each([
    ["s3cret", /^is no address; write postgres:/],
    ["mysql://gate:s3cret@db/dropgate", /^is no address of PostgreSQL; write postgres:/],
    ["postgres:///s3cret", /^names no host/],
    ["postgres://gate:s3cret@db:5432", /^names no database/],
    ["postgres://gate:s3cret@db:5432/", /^names no database/],
    ["postgres://gate:s3cret@db/dropgate?sslmode=verify_s3", /^has an sslmode that there is not/],
    [
      "postgres://gate:s3cret@db/dropgate?sslmode=verify-full&sslrootcert=s3.pem",
      /^has no absolute path in sslroot/,
    ],
    [
      "postgres://gate:s3cret@db/dropgate?sslmode=verify-full&sslcert=/s3.pem",
      /^names one of sslcert and sslkey/,
    ],
    ["postgres://gate:s3#cret@db:5432/dropgate", /^is no address/],
  ])("%s is refused, and the message does not show it", (text, message) => {
    const fault = storeUrlFault(text);
    expect(fault).toMatch(message);
    expect(fault).not.toContain("s3");
  });
});
