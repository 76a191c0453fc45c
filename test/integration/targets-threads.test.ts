/** The threads of upload targets: what hostile servers do stays in them, and they end when there is nothing to do. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import ssh2, { type AuthContext, type Connection } from "ssh2";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFtpTarget, createSftpTarget, type SftpTargetOptions } from "../support/server-targets.ts";
import { describeKey } from "../../src/remote/host-keys.ts";
import { deliveryOf, faultOf, fileOf, never } from "../support/deliveries.ts";
import { listenFree } from "../support/listen-free.ts";
import { projectFolder } from "../support/markdown.ts";
import { runProgram } from "../support/run-program.ts";
import { type ScriptedFtp, startScriptedFtp } from "../support/scripted-ftp.ts";
import { testTimes } from "../support/target-conformance.ts";
import { startLink } from "../support/tcp-link.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const password = "kaz-21-lorry";
const hostKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
  type: "pkcs1",
  format: "pem",
});

function fingerprint(): string {
  const parsed = ssh2.utils.parseKey(hostKey);
  if (parsed instanceof Error) throw parsed;
  return describeKey(parsed.getPublicSSH()).fingerprint;
}

interface HostileServer {
  readonly port: number;
  readonly methods: string[];
  end(): Promise<void>;
}

/** An SSH server whose behaviour after the handshake is the test's. */
async function startSsh(
  onConnection: (client: Connection, methods: string[]) => void,
): Promise<HostileServer> {
  const methods: string[] = [];
  const clients = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    clients.add(client);
    client.on("error", () => undefined).on("close", () => clients.delete(client));
    onConnection(client, methods);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    methods,
    end: async () => {
      for (const client of clients) client.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const optionsFor = (port: number, more: Partial<SftpTargetOptions> = {}): SftpTargetOptions => ({
  host: "127.0.0.1",
  port,
  user: "host",
  password,
  hostKeys: [fingerprint()],
  ...testTimes,
  ...more,
});

const one = () => deliveryOf([fileOf("a.xml", "a")]);
const accept = (context: AuthContext) => context.accept();

describe("the thread of an upload target", () => {
  let ftp: ScriptedFtp;
  beforeEach(async () => {
    ftp = await startScriptedFtp();
  });
  afterEach(() => ftp.end());

  test("is ended when a server makes the client spin; everything else goes on, and the next one is fine", async () => {
    let isHostile = true;
    // A channel with packets of no bytes makes ssh2 loop for ever.
    const server = await startSsh((client) => {
      const { _protocol: protocol } = client as unknown as {
        _protocol: {
          channelOpenConfirm(remote: number, local: number, window: number, packet: number): void;
        };
      };
      const confirm = protocol.channelOpenConfirm.bind(protocol);
      protocol.channelOpenConfirm = (remote, local, window, packet) =>
        confirm(remote, local, window, isHostile ? 0 : packet);
      client.on("authentication", accept);
      client.on("session", (take) => take().on("sftp", (sftp, refuse) => (isHostile ? sftp() : refuse())));
    });
    const target = createSftpTarget(optionsFor(server.port, { timeoutMs: 3_000, connectMs: 60_000 }));
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    const outcome = await target.deliver(one(), never);
    delays.disable();
    expect(outcome).toMatchObject({ fault: "timeout", isPermanent: false, scope: "target" });
    // The spinning takes the three seconds of the deadline; a busy machine takes some of its own.
    expect(delays.max / 1e6).toBeLessThan(2_500);
    isHostile = false;
    expect(await target.deliver(one(), never)).toMatchObject({ fault: "protocol", scope: "target" });
    isHostile = true;
    const controller = new AbortController();
    const stuck = target.deliver(one(), controller.signal);
    controller.abort(new Error("stopping"));
    await expect(stuck).rejects.toThrow("stopping");
    await target.close();
    await server.end();
  });

  test("survives a server that talks nonsense as SFTP, and says so", async () => {
    const server = await startSsh((client) => {
      client.on("authentication", accept);
      client.on("session", (take) => {
        take().on("subsystem", (accepted) => {
          const stream = accepted();
          // A packet of two thousand million bytes.
          stream.write(Buffer.from([0x80, 0, 0, 0, 2, 0, 0, 0, 3]));
        });
      });
    });
    const target = createSftpTarget(optionsFor(server.port));
    const outcome = await target.deliver(one(), never);
    expect(outcome).toMatchObject({ kind: "failed", isPermanent: false, scope: "target" });
    await target.close();
    await server.end();
  });

  test("signs in with a password, also where the server asks for it by keyboard-interactive", async () => {
    const server = await startSsh((client, methods) => {
      client.on("authentication", (context) => {
        methods.push(context.method);
        if (context.method !== "keyboard-interactive") return context.reject(["keyboard-interactive"]);
        context.prompt([{ prompt: "Password: ", echo: false }], (answers) =>
          answers[0] === password ? context.accept() : context.reject(),
        );
      });
      client.on("session", (_take, reject) => reject());
    });
    const target = createSftpTarget(optionsFor(server.port));
    // Signed in: what fails is only what comes afterwards.
    expect(faultOf(await target.deliver(one(), never))).not.toBe("credentials");
    expect(server.methods).toContain("keyboard-interactive");
    await target.close();
    const wrong = createSftpTarget(optionsFor(server.port, { password: "guess" }));
    expect(await wrong.deliver(one(), never)).toMatchObject({ fault: "credentials", isPermanent: true });
    await wrong.close();
    await server.end();
  });

  test("a server that sends a banner without end is left at the deadline", async () => {
    const flood = createServer((socket) => {
      socket.on("error", () => undefined);
      const more = () => {
        while (socket.write("hello hello hello hello\r\n".repeat(100)));
      };
      socket.on("drain", more);
      more();
    });
    const port = await listenFree(flood);
    const target = createSftpTarget(optionsFor(port));
    expect(await target.deliver(one(), never)).toMatchObject({
      kind: "failed",
      isPermanent: false,
      scope: "target",
    });
    await target.close();
    flood.close();
  });

  test.each([
    ["a connection is closed when it has not been used for a while", { keepMs: 200, idleMs: 60_000 }],
    ["the thread and its connections end when there is nothing to do", { keepMs: 60_000, idleMs: 200 }],
  ])("%s, and the next delivery opens another", async (_name, times) => {
    const link = await startLink(ftp.port);
    const settings = { host: "127.0.0.1", port: link.port, user: "host", password, ...testTimes, ...times };
    const target = createFtpTarget({ ...settings, security: "plain" });
    for (const name of ["a.xml", "b.xml"]) {
      expect(faultOf(await target.deliver(deliveryOf([fileOf(name, name)]), never))).toBe("delivered");
      await waitFor("the connection is closed", () => link.open() === 0);
    }
    expect(link.connections()).toBe(2);
    await target.close();
    await link.end();
  });

  test("closed while it loads and while it works, it ends, and the attempts with it", async () => {
    for (let round = 0; round < 3; round += 1) {
      const settings = { host: "127.0.0.1", port: ftp.port, user: "host", password, ...testTimes };
      const target = createFtpTarget({ ...settings, security: "plain" });
      const delivering = target.deliver(one(), never);
      if (round > 0) await waitFor("a command", () => ftp.commands.length > 0);
      await target.close();
      expect(["connectionLost", "delivered"]).toContain(faultOf(await delivering));
      ftp.commands.length = 0;
    }
  });

  const built = join(projectFolder, "dist/targets/servers/upload-target.js");
  test.skipIf(!existsSync(built))("runs from what is built as well", async () => {
    const script = `
      import { UploadTarget } from ${JSON.stringify(built)};
      const times = { connectMs: 15_000, silenceMs: 20_000, keepMs: 10_000 };
      const server = { kind: "ftp", host: "127.0.0.1", port: ${ftp.port}, user: "u", password: "p", security: "plain", times };
      const target = new UploadTarget({ server, makeFolders: false, timeoutMs: 60_000, connections: 2, idleMs: 30_000 });
      const files = [{ name: "a.xml", contentType: "x", read: async () => Buffer.from("built") }];
      const outcome = await target.deliver({ id: "1", companyCode: "A", files }, new AbortController().signal);
      await target.close();
      process.stdout.write(outcome.kind);
    `;
    const file = join(temporaryFolder(), "built.mjs");
    await writeFile(file, script);
    const { output } = await runProgram(process.execPath, [file]);
    expect(output).toBe("delivered");
    expect(ftp.files.get("a.xml")?.toString()).toBe("built");
  });
});
