import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lineOf, type Point, pointsOf, sorted, textOf } from "../../../test/support/influx/points.ts";
import { InfluxDecoder, type Precision } from "./decode.ts";

/** The public corpus lies beside the repository where it is at hand. */
const FOLDER: string = join(import.meta.dir, "../../../../shared/conformance/line-protocol");

/** One line of the corpus, as its README describes it. */
interface Case {
  readonly input?: string;
  readonly input_base64?: string;
  readonly precision: Precision;
  readonly default_time: string;
  readonly ok: boolean;
  readonly points?: readonly {
    readonly measurement: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly fields: Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;
    readonly time: string;
  }[];
}

const KINDS: Readonly<Record<string, string>> = { float: "float", int: "int", uint: "uint", string: "string", bool: "boolean" };

function casesOf(file: string): readonly Case[] {
  const lines = readFileSync(join(FOLDER, file), "utf8").trim().split("\n");
  // Default times have more digits than a JSON number keeps.
  return lines.map((line) => JSON.parse(line.replace(/"default_time":(-?\d+)/, '"default_time":"$1"')) as Case);
}

function wanted(item: Case): readonly string[] {
  const points = (item.points ?? []).map((point): Point => {
    const fields = Object.entries(point.fields).map(([name, { type, value }]) => [name, textOf(KINDS[type] ?? type, value)] as const);
    return {
      table: point.measurement,
      tags: sorted(point.tags),
      fields: sorted(Object.fromEntries(fields)),
      time: BigInt(point.time),
    };
  });
  return points.map(plain).sort();
}

/** JSON has lost the sign of the corpus's zeros. */
function plain(point: Point): string {
  return lineOf(point).replaceAll('"float:-0"', '"float:0"');
}

function check(file: string, position: number, item: Case): void {
  const bytes = item.input === undefined ? Buffer.from(item.input_base64 ?? "", "base64") : Buffer.from(item.input);
  const result = new InfluxDecoder().decode(new Uint8Array(bytes), {
    database: "public",
    precision: item.precision,
    defaultTimeNanos: BigInt(item.default_time),
    schemas: { columnOf: () => undefined },
    timeColumn: "greptime_timestamp",
  });
  const where = `${file}:${position + 1}`;
  expect(`${where} ok ${result.errorCount === 0}`).toBe(`${where} ok ${item.ok}`);
  if (item.ok) expect([where, ...pointsOf(result.batch).map(plain).sort()]).toEqual([where, ...wanted(item)]);
}

describe.skipIf(!existsSync(FOLDER))("the public corpus (skipped: no shared/conformance folder beside the repository)", () => {
  for (const file of ["cases.jsonl", "fuzz.jsonl"]) {
    test(`${file}: accepts what must parse, with the same points, and refuses the rest`, () => {
      for (const [position, item] of casesOf(file).entries()) check(file, position, item);
    });
  }
});
