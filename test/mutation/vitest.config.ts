/** The tests of one room; `run.ts` says which. */
import { defineConfig } from "vitest/config";
import ownConfig from "../../vitest.config.ts";
import { roomAt } from "./rooms.ts";

const room = roomAt(process.env["DROPGATE_MUTATION_ROOM"] ?? "");
const include = (room?.tests ?? []).map((path) => (path.endsWith("/") ? `${path}**/*.test.ts` : path));

export default defineConfig({ test: { ...ownConfig.test, include } });
