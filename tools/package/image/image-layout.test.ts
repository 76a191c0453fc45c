/** The image as programs that read it see it: sums, sizes, names. The base is of this machine, and needs dpkg. */
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load-config.ts";
import { isInstalled } from "../../../test/support/run-program.ts";
import { baseEntries } from "./image-base.ts";
import { imageConfig } from "./image-entries.ts";
import { imageLayout } from "./image-layout.ts";
import { tarOf } from "./tar-writer.ts";

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

const facts = {
  version: "1.2.3",
  architecture: "amd64",
  seconds: 1_700_000_000,
  config: imageConfig("1.2.3"),
  layers: ["lower", "upper"].map((path) => ({
    holds: path,
    archive: tarOf([{ path, kind: "file", mode: 0o644, content: Buffer.from(path) }], 5),
  })),
} as const;
const files = new Map(imageLayout(facts).map(({ path, content }) => [path, content ?? Buffer.alloc(0)]));

function bytesOf(path: string): Buffer {
  const found = files.get(path);
  if (found === undefined) throw new Error(`the layout lacks ${path}`);
  return found;
}

function sum(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function blob({ digest, size }: Descriptor): Buffer {
  const bytes = bytesOf(`blobs/${digest.replace(":", "/")}`);
  expect([sum(bytes), bytes.length]).toEqual([digest, size]);
  return bytes;
}

function json<T>(bytes: Buffer): T {
  return JSON.parse(bytes.toString()) as T;
}

describe("the image", () => {
  const index = json<{ manifests: [Descriptor] }>(bytesOf("index.json"));
  const manifest = json<{ config: Descriptor; layers: Descriptor[] }>(blob(index.manifests[0]));
  const config = json<{ rootfs: { diff_ids: string[] }; config: object }>(blob(manifest.config));

  test("has each of its parts under its sum, from the index to the layers, the lowest first", () => {
    expect(bytesOf("oci-layout").toString()).toBe('{"imageLayoutVersion":"1.0.0"}');
    const archives = manifest.layers.map((layer) => gunzipSync(blob(layer)));
    expect(archives).toEqual(facts.layers.map(({ archive }) => archive));
    expect(config.rootfs.diff_ids).toEqual(archives.map(sum));
    expect(files.size).toBe(3 + 2 + 2);
  });

  test("says for whom it is, what it is called, and how it is run", () => {
    expect(index.manifests).toMatchObject([
      {
        platform: { architecture: "amd64", os: "linux" },
        annotations: { "org.opencontainers.image.ref.name": "dropgate:1.2.3" },
      },
    ]);
    expect(config).toMatchObject({
      created: "2023-11-14T22:13:20.000Z",
      config: { User: "10001:10001", Entrypoint: ["/usr/bin/dropgate"], Cmd: ["serve"] },
    });
  });

  test("can be loaded by a Docker that asks for its own list", () => {
    const [one] = json<{ Config: string; Layers: string[]; RepoTags: string[] }[]>(bytesOf("manifest.json"));
    expect(one?.RepoTags).toEqual(["dropgate:1.2.3"]);
    for (const path of [one?.Config ?? "", ...(one?.Layers ?? [])]) expect(files.has(path)).toBe(true);
  });
});

test("the configuration of the image is taken as it is", async () => {
  const loaded = await loadConfig({ path: join(import.meta.dirname, "dropgate.yaml"), env: {}, cwd: "/" });
  expect(loaded).toMatchObject({
    kind: "loaded",
    warnings: [],
    config: { stateDir: "/var/lib/dropgate", http: { host: "127.0.0.1" }, sftp: { host: "0.0.0.0" } },
  });
});

test.skipIf(!isInstalled("dpkg"))(
  "the base has shell, loader and libraries, with what their licences ask for",
  () => {
    const paths = baseEntries([process.execPath]).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const name of ["/ld-linux", "/libc.so.6", "/libstdc++.so.6", "bin/dash", "bin/sync"])
      expect(paths.filter((path) => path.includes(name))).not.toEqual([]);
    for (const name of ["libc6", "dash", "coreutils"])
      expect(paths).toEqual(
        expect.arrayContaining([`usr/share/doc/${name}/copyright`, `var/lib/dpkg/status.d/${name}`]),
      );
  },
);
