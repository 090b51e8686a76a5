// Makes a PNG of few colours smaller: rows without filter, a palette where 256 colours suffice, the strongest compression.
import { crc32, deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
}

/** The pixels of a PNG as the browser writes it: eight bits, RGB or RGBA, not interlaced. */
function pixels(png) {
  let offset = 8;
  let header;
  const data = [];
  while (offset < png.length) {
    const length = png.readUInt32BE(offset);
    const type = png.toString("latin1", offset + 4, offset + 8);
    const body = png.subarray(offset + 8, offset + 8 + length);
    if (type === "IHDR") header = body;
    if (type === "IDAT") data.push(body);
    offset += length + 12;
  }
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9] === 6 ? 4 : 3];
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x >= channels ? out[y * stride + x - channels] : 0;
      const up = y > 0 ? out[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? out[(y - 1) * stride + x - channels] : 0;
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      const predicted = [0, left, up, (left + up) >> 1, paeth][filter];
      out[y * stride + x] = raw[y * (stride + 1) + 1 + x] + predicted;
    }
  }
  return { width, height, channels, bytes: out };
}

/** The same picture with at most 256 colours. Rare colours become the nearest frequent one. */
export function smaller(png) {
  const { width, height, channels, bytes } = pixels(png);
  const counts = new Map();
  const colours = new Uint32Array(width * height);
  for (let i = 0; i < colours.length; i += 1) {
    const at = i * channels;
    colours[i] = (bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2];
    counts.set(colours[i], (counts.get(colours[i]) ?? 0) + 1);
  }
  // Small marks of a strong colour count for more than the many greys at the edges of letters.
  const weight = ([colour, count]) => {
    const parts = [colour >> 16, (colour >> 8) & 255, colour & 255];
    return count * (1 + (Math.max(...parts) - Math.min(...parts)) / 4);
  };
  const palette = [...counts].sort((a, b) => weight(b) - weight(a)).slice(0, 256).map(([colour]) => colour);
  const nearest = new Map(palette.map((colour, index) => [colour, index]));
  const distance = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  for (const colour of counts.keys()) {
    if (nearest.has(colour)) continue;
    const best = palette.reduce((found, other, index) => (distance(colour, other) < distance(colour, palette[found]) ? index : found), 0);
    nearest.set(colour, best);
  }
  const rows = Buffer.alloc((width + 1) * height);
  for (let i = 0; i < colours.length; i += 1) rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = nearest.get(colours[i]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const table = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("PLTE", table), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
