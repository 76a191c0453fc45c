/**
 * The floor of deliveries to a folder: writes files under a hidden name, fsyncs and renames them, one after the other.
 * Usage: folder-floor.ts FOLDER COUNT SAMPLE, a file whose bytes each of them gets; prints how many milliseconds it took.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

const [folder = "", count = "0", sample = ""] = process.argv.slice(2);
const bytes = readFileSync(sample);
const startedAt = performance.now();
for (let index = 0; index < Number(count); index += 1) {
  const temporary = join(folder, `.${index}.part`);
  const fd = openSync(temporary, "wx", 0o640);
  writeSync(fd, bytes);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temporary, join(folder, `${index}.xml`));
}
process.stdout.write(`${performance.now() - startedAt}\n`);
