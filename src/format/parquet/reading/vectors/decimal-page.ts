/** Pages of decimals that are no integers in the file: 16 bytes a value, or the text that version 1 of the format had. */
import { type DecimalType, decimalOfText } from "../../../../column/decimal.ts";
import type { BytesVector, Scalar, Vector } from "../../../../column/vector.ts";
import { vectorOf } from "../../../../column/vector-builder.ts";
import { Encoding } from "../../page/page-header.ts";
import type { PageContext } from "../page-context.ts";
import { FIXED_BYTES } from "../../schema/physical-type.ts";
import { decodeBytes } from "./bytes-page.ts";

/** The values of a page of 16-byte decimals. NULL rows are as long as others. */
export function decodeFixedBytes(context: PageContext): BytesVector {
  const { page, rowCount, valueCount, validity, allocate } = context;
  const { values, header } = page;
  if (header.encoding !== Encoding.Plain) values.fail(`a page of 16-byte decimals of encoding ${header.encoding}`);
  const offsets = new Uint32Array(allocate((rowCount + 1) * 4), 0, rowCount + 1);
  for (let row = 0; row <= rowCount; row++) offsets[row] = row * FIXED_BYTES;
  const bytes = new Uint8Array(allocate(rowCount * FIXED_BYTES), 0, rowCount * FIXED_BYTES);
  const at = values.take(valueCount * FIXED_BYTES);
  if (validity === undefined) bytes.set(values.bytes.subarray(at, at + valueCount * FIXED_BYTES));
  else {
    let from = at;
    for (let row = 0; row < rowCount; row++) {
      if (validity[row] === 0) continue;
      bytes.set(values.bytes.subarray(from, from + FIXED_BYTES), row * FIXED_BYTES);
      from += FIXED_BYTES;
    }
  }
  return { kind: "bytes", offsets, bytes, validity };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The values of a page of decimals written as text. */
export function decodeDecimalTexts(context: PageContext, type: DecimalType): Vector {
  const { offsets, bytes, validity } = decodeBytes(context);
  const scalars: Scalar[] = [];
  for (let row = 0; row < context.rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) {
      scalars.push(undefined);
      continue;
    }
    const text = decoder.decode(bytes.subarray(offsets[row], offsets[row + 1]));
    const parsed = decimalOfText(text, type);
    if (!parsed.ok) context.page.values.fail(`'${text.slice(0, 50)}' where a decimal belongs`);
    scalars.push(parsed.value);
  }
  return vectorOf(type, scalars);
}
