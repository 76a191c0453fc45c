/**
 * `npm run package:image [-- --version VERSION] [--out FOLDER]`: makes the container image, an OCI image layout in one
 * file. It is for machines of this one's architecture, because its base are programs and libraries of the Debian on this
 * machine. The same commit gives the same bytes on the same Debian.
 */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { programSource, sbomOf } from "../build-package.ts";
import { outputFolder, projectVersion, sourceTime } from "../source.ts";
import { imageConfig, imageLayers } from "./image-entries.ts";
import { imageLayout } from "./image-layout.ts";
import { tarOf } from "./tar-writer.ts";

/** Makes the image; its path. */
function buildImage(version: string, out: string): string {
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const seconds = sourceTime(process.env);
  const source = programSource(architecture, version);
  const layers = imageLayers(source, seconds, sbomOf(source));
  const layout = imageLayout({ version, architecture, seconds, config: imageConfig(version), layers });
  const file = join(out, `dropgate_${version}_${architecture}.oci.tar`);
  mkdirSync(out, { recursive: true });
  writeFileSync(file, tarOf(layout, seconds));
  utimesSync(file, seconds, seconds);
  return file;
}

function main(): void {
  const { values } = parseArgs({ options: { version: { type: "string" }, out: { type: "string" } } });
  const out = values.out === undefined ? outputFolder : resolve(values.out);
  process.stdout.write(`${buildImage(values.version ?? projectVersion(), out)}\n`);
}

if (import.meta.main) main();
