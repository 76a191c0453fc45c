/**
 * The check of a tree that nodes share as a process of its own, so that a tracer can have calls of the system fail: the file
 * of the configuration as argument, the findings as JSON on its output. The database is not asked.
 */
import { checkSharedTree } from "../../src/app/checks/check-tree.ts";
import { loadConfig } from "../../src/config/load-config.ts";

const outcome = await loadConfig({ path: process.argv[2] ?? "", cwd: "/", env: {} });
if (outcome.kind === "faulty") throw new Error("the configuration is faulty");
process.stdout.write(JSON.stringify(await checkSharedTree(outcome.config, false)));
