/** Pages of floats: BYTE_STREAM_SPLIT or dictionary. */
import { takeDoubles } from "../../../../column/double-bits.ts";
import type { Vector } from "../../../../column/vector.ts";
import { joinDoubles, joinFloats } from "../../encodings/byte-stream-split.ts";
import { decodeHybrid, hybridCapacity } from "../../encodings/rle-bit-unpacked.ts";
import { Encoding } from "../../page/page-header.ts";
import type { PageContext } from "../page-context.ts";
import { spread } from "./spread.ts";

/** The values of a float page: Float64Array or Float32Array, as the column is. */
export function decodeFloats(context: PageContext): Vector {
  const { column, page, rowCount, valueCount, validity, allocate } = context;
  const isDouble = column.type.kind === "float" && column.type.bits === 64;
  const out = isDouble ? new Float64Array(allocate(rowCount * 8), 0, rowCount) : new Float32Array(allocate(rowCount * 4), 0, rowCount);
  if (page.header.encoding === Encoding.ByteStreamSplit) {
    const words = new Int32Array(out.buffer, out.byteOffset, out.byteLength / 4);
    if (isDouble) joinDoubles(page.values, valueCount, words);
    else joinFloats(page.values, valueCount, words);
  } else {
    lookUp(context, out);
  }
  if (validity !== undefined) spread(out, valueCount, validity);
  return { kind: "number", values: out, validity };
}

function lookUp({ page, valueCount, dictionary }: PageContext, out: Float64Array | Float32Array): void {
  const { values, header } = page;
  if (header.encoding !== Encoding.RleDictionary) values.fail(`a float page of encoding ${header.encoding}`);
  if (dictionary?.kind !== "number") return values.fail("the dictionary of the floats was not given");
  const indexes = new Uint32Array(hybridCapacity(valueCount));
  decodeHybrid(values, valueCount, values.u8(), dictionary.values.length, indexes);
  const entries = dictionary.values;
  if (entries instanceof Float64Array && out instanceof Float64Array) takeDoubles(entries, indexes, valueCount, out);
  else for (let i = 0; i < valueCount; i++) out[i] = entries[indexes[i]!]!;
}
