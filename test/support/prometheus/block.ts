/** Blocks of Prometheus, written from the description of their format: index version 2, one file of chunks. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32c } from "../../../src/ingest/prometheus/read/read-series.ts";
import { XorChunk } from "../../../src/ingest/prometheus/read/xor-chunk.ts";

/** A series with its chunks, each of samples in order. */
export interface BlockSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly chunks: readonly (readonly (readonly [millis: number, value: number])[] | RawChunk)[];
}

/** A chunk that is no XOR chunk. */
export interface RawChunk {
  readonly encoding: number;
  readonly data: Uint8Array;
  /** Times of its first and last sample. */
  readonly first: number;
  readonly last: number;
}

/** Writes a block into a folder. */
export async function writeBlock(folder: string, all: readonly BlockSeries[]): Promise<void> {
  const chunkFile: number[] = [...u32(0x85bd40dd), 1, 0, 0, 0];
  const symbols = [...new Set(all.flatMap(({ labels }) => Object.entries(labels).flat()))].sort();
  const index: number[] = [...u32(0xbaaad700), 2];
  const symbolsAt = index.length;
  const table = [...u32(symbols.length), ...symbols.flatMap((symbol) => [...uvarint(Buffer.byteLength(symbol)), ...Buffer.from(symbol)])];
  index.push(...u32(table.length), ...table, ...sum(table));
  while (index.length % 16 !== 0) index.push(0);
  const seriesAt = index.length;
  for (const { labels, chunks } of all) {
    while (index.length % 16 !== 0) index.push(0);
    const names = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
    const entry = [
      ...uvarint(names.length),
      ...names.flatMap(([name, value]) => [name, value].flatMap((text) => uvarint(symbols.indexOf(text)))),
    ];
    entry.push(...uvarint(chunks.length));
    let [lastTime, lastPlace] = [0, 0];
    for (const [i, chunk] of chunks.entries()) {
      const { encoding, data, first, last } = "data" in chunk ? chunk : xorChunk(chunk);
      const place = chunkFile.length;
      chunkFile.push(...uvarint(data.length), encoding, ...data, ...sum([encoding, ...data]));
      entry.push(...(i === 0 ? varint(first) : uvarint(first - lastTime)), ...uvarint(last - first));
      entry.push(...(i === 0 ? uvarint(place) : varint(place - lastPlace)));
      [lastTime, lastPlace] = [last, place];
    }
    index.push(...uvarint(entry.length), ...entry, ...sum(entry));
  }
  const postingsAt = index.length;
  index.push(...u32(4), ...u32(0), ...sum(u32(0)));
  const toc = [symbolsAt, seriesAt, 0, 0, postingsAt, postingsAt].flatMap((place) => [...u32(0), ...u32(place)]);
  index.push(...toc, ...sum(toc));
  await mkdir(join(folder, "chunks"), { recursive: true });
  await writeFile(join(folder, "index"), Uint8Array.from(index));
  await writeFile(join(folder, "chunks/000001"), Uint8Array.from(chunkFile));
  await writeFile(join(folder, "meta.json"), "{}");
}

function xorChunk(samples: readonly (readonly [number, number])[]): RawChunk {
  const chunk = new XorChunk();
  const view = new DataView(new ArrayBuffer(8));
  for (const [time, value] of samples) {
    view.setFloat64(0, value);
    chunk.append(time, view.getInt32(4), view.getInt32(0));
  }
  return { encoding: 1, data: chunk.finish(), first: samples[0]?.[0] ?? 0, last: samples.at(-1)?.[0] ?? 0 };
}

function u32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

function sum(bytes: readonly number[]): number[] {
  return u32(crc32c(Uint8Array.from(bytes)));
}

function uvarint(value: number): number[] {
  const out: number[] = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    out.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    if (rest <= 127n) return out;
  }
}

function varint(value: number): number[] {
  return uvarint(value < 0 ? -2 * value - 1 : 2 * value);
}
