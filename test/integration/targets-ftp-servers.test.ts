/** The FTP target and servers that are not as well-behaved as vsftpd. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { DeliveryOutcome, Target } from "../../src/outbound/target.ts";
import { createFtpTarget } from "../support/server-targets.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "../support/deliveries.ts";
import { type ScriptedFtp, startScriptedFtp } from "../support/scripted-ftp.ts";
import { testTimes } from "../support/target-conformance.ts";

describe("the FTP target and a server", () => {
  let server: ScriptedFtp;
  let target: Target;

  beforeEach(async () => {
    server = await startScriptedFtp();
    const { port } = server;
    target = createFtpTarget({
      host: "127.0.0.1",
      port,
      security: "plain",
      user: "host",
      password: "kaz-21-lorry",
      directory: "in",
      ...testTimes,
      silenceMs: 3_000,
    });
  });
  afterEach(async () => {
    await target.close();
    await server.end();
  });

  const deliver = async (content = "ours", name = "a.xml"): Promise<DeliveryOutcome> =>
    await target.deliver(deliveryOf([fileOf(name, content)]), never);
  const textOf = (name: string) => server.files.get(name)?.toString();

  test("whose renames overwrite: the name is looked for before, and never overwritten", async () => {
    server.files.set("a.xml", Buffer.from("theirs"));
    expect(await deliver()).toEqual({ kind: "nameTaken", name: "a.xml" });
    expect(textOf("a.xml")).toBe("theirs");
  });

  test("where another puts the name while we upload: it is seen before the rename", async () => {
    server.onCommand = (command) => {
      if (command === "STOR") server.files.set("a.xml", Buffer.from("theirs"));
    };
    expect(await deliver()).toEqual({ kind: "nameTaken", name: "a.xml" });
    expect([...server.files.keys()]).toEqual(["a.xml"]);
    expect(textOf("a.xml")).toBe("theirs");
  });

  test.each(["500 what?", "502 not implemented"])(
    "that does not know SIZE (%s): names are looked for otherwise",
    async (reply) => {
      server.replies.set("SIZE", reply);
      expect(faultOf(await deliver())).toBe("delivered");
      expect(faultOf(await deliver())).toBe("delivered");
      expect(faultOf(await deliver("others"))).toBe("nameTaken");
      expect([...server.files.keys()]).toEqual(["a.xml"]);
    },
  );

  test("that loses the answer to the rename: the next attempt finds the file, and says delivered", async () => {
    server.replies.set("RNTO", "silent");
    server.onCommand = (command, name) => {
      if (command !== "RNTO") return;
      const part = [...server.files.keys()].find((one) => one.endsWith(".part")) ?? "";
      server.files.set(name, server.files.get(part) ?? Buffer.alloc(0));
      server.files.delete(part);
    };
    const delivery = deliveryOf([fileOf("a.xml", "ours")]);
    expect(await target.deliver(delivery, never)).toMatchObject({ fault: "timeout" });
    server.replies.clear();
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    expect([...server.files.keys()]).toEqual(["a.xml"]);
  });

  test("that keeps less than it was sent: a fault, and nothing is left", async () => {
    server.maxBytes = 3;
    expect(await deliver()).toMatchObject({ fault: "protocol", isPermanent: false, scope: "delivery" });
    expect([...server.files.keys()]).toEqual([]);
  });

  test("that is full is full, and nothing is left", async () => {
    server.replies.set("STOR", "452 Insufficient storage space");
    expect(await deliver()).toMatchObject({ fault: "noSpace", isPermanent: false, scope: "target" });
    expect([...server.files.keys()]).toEqual([]);
  });

  test.each([
    ["greeting", "421 too many users", "busy", false],
    ["greeting", "120 in ten minutes", "busy", false],
    ["PASS", "530 no", "credentials", true],
    ["PASS", "332 account?", "credentials", true],
    ["CWD", "550 no such directory", "missingFolder", false],
    ["CWD", "550 permission denied", "notAllowed", true],
    ["STOR", "553 not allowed", "notAllowed", true],
    ["STOR", "450 in use", "busy", false],
    ["RNTO", "550 permission denied", "notAllowed", true],
    ["EPSV", "silent", "timeout", false],
    ["PWD", "silent", "timeout", false],
  ])("that answers %s with '%s': %s", async (command, reply, fault, isPermanent) => {
    server.replies.set(command, reply);
    const outcome = await deliver();
    expect(outcome).toMatchObject({ fault, isPermanent });
    if (reply !== "silent") expect(messageOf(outcome)).toContain(reply);
    expect(messageOf(outcome)).not.toContain("kaz-21-lorry");
  });

  test("that echoes the password: it is not shown", async () => {
    server.replies.set("PASS", "530 kaz-21-lorry is wrong");
    expect(messageOf(await deliver())).toContain("530 *** is wrong");
  });

  test("whose reply never ends: the connection is cut", async () => {
    server.replies.set("FEAT", `211-${"x".repeat(100_000)}`);
    expect(await deliver()).toMatchObject({ kind: "failed", isPermanent: false, scope: "target" });
    server.replies.clear();
    expect(faultOf(await deliver())).toBe("delivered");
  });

  test("that is signed in to once for many deliveries", async () => {
    for (let index = 0; index < 5; index += 1)
      expect(faultOf(await deliver("x", `f${index}.xml`))).toBe("delivered");
    expect(server.commands.filter((command) => command.startsWith("USER"))).toHaveLength(1);
  });
});
