/** Blocks as columns of Arrow have them, both ways: `bun src/format/lz4/lz4.bench.ts`. MB/s of plain bytes, and how much is left. */
import { decodeLz4Frames, encodeLz4Frame, lz4FrameBytes } from "./frame.ts";

const frameOf = (bytes: Uint8Array): Uint8Array => encodeLz4Frame(bytes, new Uint8Array(lz4FrameBytes(bytes.length)));

const SMALL: boolean = process.env["VARVE_BENCH_SMOKE"] === "1";
const ROWS: number = SMALL ? 100 : 65_536;
const ROUNDS: number = SMALL ? 1 : 30;

let state = 42;
/** A whole number 0..limit-1. */
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
const rows = <T>(make: (row: number) => T): T[] => Array.from({ length: ROWS }, (_, row) => make(row));

const CASES: Readonly<Record<string, Uint8Array>> = {
  "numbers below 101 in 64 bits": bytesOf(BigInt64Array.from(rows(() => BigInt(below(101))))),
  "doubles of two digits": bytesOf(Float64Array.from(rows(() => below(10_000) / 100))),
  "times, host by host": bytesOf(BigInt64Array.from(rows((row) => 1_700_000_000_000_000_000n + BigInt(row % 393) * 10_000_000_000n))),
  "names, host by host": Buffer.from(rows((row) => `host_${Math.floor(row / 393)}`).join("")),
  "names, one after the other": Buffer.from(rows((row) => `host_${row % 4000}`).join("")),
  "what cannot be compressed": bytesOf(Uint32Array.from(rows(() => below(2 ** 32)))),
};

/** Megabytes a second of the process's CPU. */
function rate(bytes: number, work: () => unknown): string {
  for (let round = 0; round < ROUNDS; round++) work();
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) work();
  const { user, system } = process.cpuUsage(before);
  return ((bytes * ROUNDS) / (user + system)).toFixed(0).padStart(7);
}

for (const [name, plain] of Object.entries(CASES)) {
  const packed = frameOf(plain);
  if (!Buffer.from(decodeLz4Frames(packed, plain.length)).equals(plain)) throw new Error(`${name} did not come back`);
  const writes = rate(plain.length, () => frameOf(plain));
  const reads = rate(plain.length, () => decodeLz4Frames(packed, plain.length));
  process.stdout.write(`${name.padEnd(30)} writes ${writes}, reads ${reads} MB/s, ${(packed.length / plain.length).toFixed(3)} left\n`);
}
