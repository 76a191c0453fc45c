/**
 * An OCI image layout (image-spec 1.1): blobs by their SHA-256, a manifest, a configuration, an index. `manifest.json` is
 * no part of it: Docker asks for that when it loads an image into a store of its own kind, and saves images with it too.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Architecture } from "../shipped-files.ts";
import type { TarEntry } from "./tar-writer.ts";

const prefix = "application/vnd.oci.image";

export interface ImageLayer {
  readonly archive: Buffer;
  readonly holds: string;
}

export interface ImageFacts {
  readonly version: string;
  readonly architecture: Architecture;
  readonly seconds: number;
  /** What a container is run with: the `config` of the specification. */
  readonly config: object;
  /** Tar archives, the lowest first. */
  readonly layers: readonly ImageLayer[];
}

interface Blob {
  readonly entry: TarEntry;
  readonly descriptor: { readonly mediaType: string; readonly digest: string; readonly size: number };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function fileOf(path: string, content: Buffer): TarEntry {
  return { path, kind: "file", mode: 0o644, content };
}

function jsonFile(path: string, value: object): TarEntry {
  return fileOf(path, Buffer.from(JSON.stringify(value)));
}

function blobOf(mediaType: string, bytes: Buffer): Blob {
  const digest = digestOf(bytes);
  const descriptor = { mediaType: `${prefix}.${mediaType}`, digest, size: bytes.length };
  return { entry: fileOf(`blobs/${digest.replace(":", "/")}`, bytes), descriptor };
}

function jsonBlob(mediaType: string, value: object): Blob {
  return blobOf(mediaType, Buffer.from(JSON.stringify(value)));
}

function configOf({ architecture, seconds, config, layers }: ImageFacts): object {
  const created = new Date(seconds * 1000).toISOString();
  return {
    created,
    architecture,
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: layers.map(({ archive }) => digestOf(archive)) },
    history: layers.map(({ holds }) => ({ created, created_by: "npm run package:image", comment: holds })),
  };
}

/** The files of the layout. */
export function imageLayout(facts: ImageFacts): TarEntry[] {
  const { version, architecture } = facts;
  const config = jsonBlob("config.v1+json", configOf(facts));
  // Most of the bytes are one binary: a higher level takes minutes and saves little.
  const layers = facts.layers.map(({ archive }) =>
    blobOf("layer.v1.tar+gzip", gzipSync(archive, { level: 4 })),
  );
  const manifest = jsonBlob("manifest.v1+json", {
    schemaVersion: 2,
    mediaType: `${prefix}.manifest.v1+json`,
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
  });
  const name = `dropgate:${version}`;
  const annotations = {
    "org.opencontainers.image.ref.name": name,
    "io.containerd.image.name": `docker.io/library/${name}`,
  };
  const platform = { architecture, os: "linux" };
  const pathOf = ({ entry }: Blob) => entry.path;
  return [
    jsonFile("oci-layout", { imageLayoutVersion: "1.0.0" }),
    jsonFile("index.json", {
      schemaVersion: 2,
      mediaType: `${prefix}.index.v1+json`,
      manifests: [{ ...manifest.descriptor, platform, annotations }],
    }),
    jsonFile("manifest.json", [{ Config: pathOf(config), RepoTags: [name], Layers: layers.map(pathOf) }]),
    ...[manifest, config, ...layers].map(({ entry }) => entry),
  ];
}
