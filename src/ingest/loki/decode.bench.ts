/**
 * Entries a second of the Loki decoder, in process, on one thread: `bun src/ingest/loki/decode.bench.ts`.
 *
 * One request has 20 streams of 100 lines of 120 B, like those of an access log; "metadata" adds two pairs an entry. Each case prints a
 * hash of its decoded rows, so that a faster decoder that decodes something else shows.
 */
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { measure } from "mitata";
import { crc32 } from "../../base/bytes/hash.ts";
import { LokiDecoder, type LokiForm } from "./decode.ts";

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const STREAMS = 20;
const ENTRIES: number = SMALL ? 5 : 100;
const BODIES = 4;
const SECONDS = 1_731_000_000;

interface Entry {
  readonly nanos: number;
  readonly line: string;
  readonly metadata: Readonly<Record<string, string>>;
}

function entriesOf(body: number, stream: number, hasMetadata: boolean): Entry[] {
  return Array.from({ length: ENTRIES }, (_, i) => {
    const request = `"GET /api/v1/items/${body * 7919 + i * 31}?page=${i % 9} HTTP/1.1"`;
    const line = `10.0.${stream}.${i} - - ${request} 200 ${i * 97} "-" "agent/1.${i % 5}" "quoted"`;
    const metadata = hasMetadata
      ? { trace_id: `${body}-${stream}-${i}-4bf92f3577b34da6a3ce929d`, level: i % 9 === 0 ? "error" : "info" }
      : {};
    return { nanos: i * 1000 + body, line, metadata: metadata as Record<string, string> };
  });
}

function labelsOf(stream: number): Record<string, string> {
  return { app: "shop", cluster: "eu-1", job: "default/shop", pod: `shop-7d9f-${stream}` };
}

function jsonBody(body: number, hasMetadata: boolean): Uint8Array {
  const streams = Array.from({ length: STREAMS }, (_, stream) => ({
    stream: labelsOf(stream),
    values: entriesOf(body, stream, hasMetadata).map(({ nanos, line, metadata }) => {
      const time = String(BigInt(SECONDS) * 1_000_000_000n + BigInt(nanos));
      return hasMetadata ? [time, line, metadata] : [time, line];
    }),
  }));
  return new TextEncoder().encode(JSON.stringify({ streams }));
}

function protobufBody(body: number, hasMetadata: boolean): Uint8Array {
  const writer = new BinaryWriter();
  for (let stream = 0; stream < STREAMS; stream++) {
    const labels = Object.entries(labelsOf(stream)).map(([name, value]) => `${name}="${value}"`);
    const message = new BinaryWriter().tag(1, 2).string(`{${labels.join(", ")}}`);
    for (const { nanos, line, metadata } of entriesOf(body, stream, hasMetadata)) {
      const time = new BinaryWriter().tag(1, 0).int64(SECONDS).tag(2, 0).int32(nanos).finish();
      const entry = new BinaryWriter().tag(1, 2).bytes(time).tag(2, 2).string(line);
      for (const [name, value] of Object.entries(metadata)) {
        entry.tag(3, 2).bytes(new BinaryWriter().tag(1, 2).string(name).tag(2, 2).string(value).finish());
      }
      message.tag(2, 2).bytes(entry.finish());
    }
    writer.tag(1, 2).bytes(message.finish());
  }
  return writer.finish();
}

/** Decodes all bodies once and returns a hash of their rows. */
function decodeAll(decoder: LokiDecoder, bodies: readonly Uint8Array[], form: LokiForm): number {
  let hash = 0;
  for (const body of bodies) {
    const { batch } = decoder.decode(body, form, "loki_logs");
    for (const { rowCount, fields } of batch.tables) {
      for (const { vector } of fields) if (vector.kind === "bytes") hash = crc32(vector.bytes.subarray(0, vector.offsets[rowCount]), hash);
    }
  }
  return hash;
}

for (const form of ["protobuf", "json"] as const) {
  for (const hasMetadata of [false, true]) {
    const make = form === "json" ? jsonBody : protobufBody;
    const bodies = Array.from({ length: BODIES }, (_, body) => make(body, hasMetadata));
    const decoder = new LokiDecoder();
    const hash = decodeAll(decoder, bodies, form);
    let next = 0;
    const run = (): number => decoder.decode(bodies[next++ % BODIES] as Uint8Array, form, "loki_logs").rowCount;
    const stats = SMALL ? { p50: 0 } : await measure(run);
    if (SMALL) run();
    const entries = ((STREAMS * ENTRIES * 1e3) / stats.p50).toFixed(2);
    const speed = (((bodies[0]?.length ?? 0) * 1e3) / stats.p50).toFixed(0);
    const rate = SMALL ? "ran once" : `${entries} M entries/s, ${speed} MB/s`;
    process.stdout.write(`${form}${hasMetadata ? " metadata" : ""}: ${rate}, hash ${(hash >>> 0).toString(16)}\n`);
  }
}
