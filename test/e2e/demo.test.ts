/** `npm start`: where the demo keeps its state, and what it says of the password. */
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { program } from "../support/daemon.ts";
import { runDemo } from "../support/run-demo.ts";
import { runProgram } from "../support/run-program.ts";

let folder: string;
let demo: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dropgate-demo-"));
  demo = join(folder, "demo");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the state lies beside the configuration and the password, and not one folder deeper", async () => {
  const printed = await runDemo(demo);
  const password = await readFile(join(demo, "demo.password"), "utf8");
  expect(printed).toContain(`Password:       ${password}\n`);
  const names = await readdir(demo);
  expect(names).toEqual(
    expect.arrayContaining(["companies", "demo.password", "dropgate.db", "dropgate.yaml"]),
  );
  expect(names).not.toContain("var");
  expect((await stat(demo)).mode & 0o777).toBe(0o750);
});

test("the password in the file is printed no more once the user has another one", async () => {
  const config = ["--config", join(demo, "dropgate.yaml")];
  for (const user of ["demo", "admin"]) {
    const set = await runProgram(program, ["user", "set-password", user, ...config]);
    expect(set.exitCode, set.output).toBe(0);
  }
  const printed = await runDemo(demo);
  for (const user of ["demo", "admin"])
    expect(printed).not.toContain(await readFile(join(demo, `${user}.password`), "utf8"));
  expect(printed).toContain(`as admin, password changed since ${demo}/admin.password was made; a new one: `);
  expect(printed).toContain(`Password:       changed since ${demo}/demo.password was made; a new one: `);
  expect(printed).toContain("curl -u demo:PASSWORD ");
});

test("a demo of an earlier version goes on with the state that its configuration names", async () => {
  await rm(demo, { recursive: true });
  const args = ["--dir", demo, "--company", "DEMO", "--user", "demo", "--http-port", "0", "--sftp-port", "0"];
  const made = await runProgram(program, ["init", ...args]);
  expect(made.exitCode, made.output).toBe(0);
  const printed = await runDemo(demo);
  expect(printed).not.toContain("was ignored");
  expect(printed).toContain("admin@DEMO is no operator of the console: ");
  expect(await readdir(demo)).not.toContain("dropgate.db");
  expect(await readdir(join(demo, "var"))).toContain("dropgate.db");
});
