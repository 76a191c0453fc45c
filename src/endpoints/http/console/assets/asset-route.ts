/** The route of what pages load. It needs no sign-in: the page for that has a style as well. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { PreparedBody } from "../../server/answer.ts";
import { HttpRefusal } from "../../server/http-refusal.ts";
import { openRead, type PublicRoute } from "../../server/route.ts";
import { type Asset, findAsset } from "./assets.ts";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Each is compressed once, by the threads of the runtime, as far as it goes. */
const prepared = new Map<string, Promise<PreparedBody>>();

async function prepare({ version, content }: Asset): Promise<PreparedBody> {
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  const [br, gzipped] = await Promise.all([
    compressBrotli(content, quality),
    compressGzip(content, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { etag: version, forms: { identity: content, gzip: gzipped, br } };
}

function preparedBodyOf(name: string, asset: Asset): Promise<PreparedBody> {
  const known = prepared.get(name);
  if (known !== undefined) return known;
  const body = prepare(asset);
  prepared.set(name, body);
  body.catch(() => prepared.delete(name));
  return body;
}

/** Kept for good, because another content has another address. */
const immutable = "public, max-age=31536000, immutable";
/** Of a page that was loaded before an update: what is there now, asked for anew each time. */
const former = "no-cache";

export const assetRoute: PublicRoute = {
  ...openRead,
  name: "consoleAsset",
  summary: "File of the console",
  path: "/console/assets/{version}/{name}",
  async run(_services, { params }) {
    const name = params["name"] ?? "";
    const asset = findAsset(name);
    if (asset === undefined)
      throw new HttpRefusal("noSuchOperation", "the console has no such file. Load the page again.");
    const isCurrent = params["version"] === asset.version;
    return {
      status: 200,
      contentType: asset.type,
      headers: { "cache-control": isCurrent ? immutable : former },
      body: await preparedBodyOf(name, asset),
    };
  },
};
