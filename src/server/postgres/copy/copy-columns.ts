/** Values of COPY as vectors: plain texts by the loops of `wire/intake`, binary ones as parameters are read. */
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { castValue } from "../../../value/cast.ts";
import { plainVector, scalarVector, type ValueReader } from "../../wire/intake/column-reader.ts";
import { textVector } from "../../wire/intake/kernels/read-values.ts";
import { parameterValue } from "../parameter-values.ts";
import { Format } from "../results.ts";
import { Oid, oidOf } from "../types.ts";

/** A reader of columns. @param timeZone of texts without a zone */
export function copyReader(isBinary: boolean, timeZone: string): ValueReader {
  if (isBinary) return binaryReader(timeZone);
  return (scanned, type) =>
    type.kind === "binary" ? scalarVector(scanned, type, (bytes) => byteaOf(bytes, timeZone)) : plainVector(scanned, type, timeZone);
}

function byteaOf(bytes: Uint8Array, timeZone: string): Scalar {
  return parameterValue({ oid: Oid.Bytea, format: Format.Text, bytes }, timeZone).value as Scalar; // bytes
}

const binaryReader =
  (timeZone: string): ValueReader =>
  (scanned, type: DataType) => {
    if (type.kind === "string" || type.kind === "binary") return textVector(scanned);
    const oid = oidOf(type);
    return scalarVector(scanned, type, (bytes) => {
      const { value, type: given } = parameterValue({ oid, format: Format.Binary, bytes }, timeZone);
      return castValue(value, given, type, { timeZone }) as Scalar; // No column holds intervals.
    });
  };
