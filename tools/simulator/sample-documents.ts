/** Small real files that a driver's device would make: a signature (PNG) and a delivery note (PDF), from a seed. */
import { crc32, deflateRawSync } from "node:zlib";
import type { Random } from "./random.ts";

const width = 64;
const height = 24;

function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, check]);
}

function adler32(bytes: Uint8Array): number {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}

/** Stored, not compressed: the bytes are then the same with every version of zlib. */
function zlibStream(bytes: Uint8Array): Buffer {
  const check = Buffer.alloc(4);
  check.writeUInt32BE(adler32(bytes));
  return Buffer.concat([Buffer.from([0x78, 0x01]), deflateRawSync(bytes, { level: 0 }), check]);
}

/** A line that goes up and down from left to right, as rows of one bit a pixel: 1 is paper. */
function scribble(random: Random): Buffer {
  const rowBytes = 1 + width / 8;
  const rows = Buffer.alloc(rowBytes * height, 0xff);
  for (let row = 0; row < height; row += 1) rows[row * rowBytes] = 0;
  let line = height / 2;
  for (let column = 4; column < width - 4; column += 1) {
    line = Math.min(height - 3, Math.max(2, line + random.whole(-3, 3)));
    for (const row of [line, line + 1]) {
      const at = row * rowBytes + 1 + (column >> 3);
      rows[at] = (rows[at] ?? 0) & ~(0x80 >> (column & 7));
    }
  }
  return rows;
}

/** A signature: a PNG of 64 by 24 pixels. */
export function signaturePng(random: Random): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit a pixel, shades of grey; compression, filter and interlace have only their method 0.
  header[8] = 1;
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk("IHDR", header),
    pngChunk("IDAT", zlibStream(scribble(random))),
    pngChunk("IEND", new Uint8Array(0)),
  ]);
}

/** Parentheses and backslashes end a text of PDF; what Latin-1 has not is not in its fonts either. */
function pdfText(line: string): string {
  return line.replaceAll(/[\\()]/g, (character) => `\\${character}`).replaceAll(/[^\x20-\xff]/g, "?");
}

/** A page with these lines, a PDF 1.4. */
export function notePdf(lines: readonly string[]): Buffer {
  const shown = lines.map((line) => `(${pdfText(line)}) Tj T*`).join("\n");
  const content = `BT /F1 12 Tf 16 TL 40 380 Td\n${shown}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 298 420] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ];
  let text = "%PDF-1.4\n";
  const places: string[] = [];
  for (const [index, object] of objects.entries()) {
    places.push(`${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, "latin1");
}
