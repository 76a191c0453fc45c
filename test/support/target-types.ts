/** The types of target that the configuration knows. */
import { settingsBelow } from "../../src/config/reader/setting-list.ts";
import { configSchema } from "../../src/config/schema.ts";

/** In the order in which the configuration has them. */
export const targetTypes: readonly string[] = settingsBelow(configSchema).flatMap(({ path }) => {
  const [, type] = /^companies\.<CODE>\.outbound\.targets\.<(\w+)>\.type$/.exec(path) ?? [];
  return type === undefined ? [] : [type];
});
