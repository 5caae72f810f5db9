import { expect, test } from "bun:test";
import { slowWork, unpaced } from "../../../test/support/encoding-work.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type DataType, FLOAT64, INT64 } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { encodeParquet, type EncodingWork } from "./encode-parquet.ts";

const COLUMNS = 50;

async function encoded(headers: readonly ColumnHeader[], work: EncodingWork): Promise<Uint8Array> {
  const vectors = headers.map(({ type }) => vectorOf(type, [undefined, undefined]));
  const batches = async function* (): AsyncGenerator<Batch> {
    yield { rowCount: 2, vectors };
  };
  const parts: Uint8Array[] = [];
  for await (const part of encodeParquet(headers, batches(), work)) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

test.each<[string, DataType]>([
  ["plain columns", FLOAT64],
  ["lists", { kind: "list", element: INT64 }],
])("others have a turn behind each of many %s, and the file is the same", async (_, type) => {
  const headers = Array.from({ length: COLUMNS }, (__, c): ColumnHeader => ({ name: `c${c}`, type }));
  const work = slowWork();
  const bytes = await encoded(headers, work);
  expect(work.turns()).toBeGreaterThanOrEqual(COLUMNS);
  expect(bytes).toEqual(await encoded(headers, unpaced()));
});

test("two columns of one name are refused, whichever they are", async () => {
  const headers = ["a", "b", "c", "b"].map((name): ColumnHeader => ({ name, type: FLOAT64 }));
  expect(await encoded(headers, unpaced()).then(String, String)).toContain("two columns are called b; give one an alias");
});
