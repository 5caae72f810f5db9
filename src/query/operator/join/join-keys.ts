/**
 * The keys of one side of a join, as vectors of the types that both sides' values are compared in.
 *
 *   integers of one sign, of up to 32 bits   as they are
 *   all other integers                       64 bits, signed
 *   signed beside unsigned of 64 bits        the same; what is negative, or beyond 2^63, equals nothing over there and counts as NULL
 */
import { type DataType, INT64 } from "../../../column/data-type.ts";
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { VectorEvaluator, vectorsOf } from "../../expression/evaluator.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { Join, Side } from "./join-sides.ts";
import type { JoinKey } from "./node.ts";

/** The type that the values of a key are told apart in. */
function keyType({ left: { type: left }, right: { type: right } }: JoinKey): DataType {
  if (left.kind !== "int" || right.kind !== "int") return left;
  return left.bits <= 32 && right.bits <= 32 && left.signed === right.signed ? left : INT64;
}

/** Whether values of 64 bits mean others on the other side. */
export function isMixed({ left: { type: left }, right: { type: right } }: JoinKey): boolean {
  if (left.kind !== "int" || right.kind !== "int" || left.signed === right.signed) return false;
  return (left.signed ? right : left).bits === 64;
}

/** The types of a join's keys, which those of both sides are read as. */
export const keyTypesOf = (node: Join): readonly DataType[] => node.keys.map(keyType);

/** The keys of one side. */
export class JoinKeys {
  /** Whether all are columns as they are, which take nothing to read. */
  readonly areColumns: boolean;
  private readonly evaluators: readonly VectorEvaluator[];
  private readonly keys: readonly JoinKey[];

  constructor(node: Join, side: Side, context: ExecContext) {
    this.keys = node.keys;
    this.areColumns = node.keys.every((key) => key[side].kind === "column");
    this.evaluators = node.keys.map((key) => new VectorEvaluator(key[side], node[side].columns, context));
  }

  /** A vector a key. Arrays are valid until the next call. */
  async of(batch: Batch): Promise<readonly Vector[]> {
    const vectors = await vectorsOf(this.evaluators, batch);
    if (!this.keys.some(isMixed)) return vectors;
    return vectors.map((vector, i) => {
      const key = this.keys[i];
      return key !== undefined && isMixed(key) ? withoutOtherSign(vector, batch.rowCount) : vector;
    });
  }
}

/** Values whose highest bit means a sign on one side and 2^63 on the other become NULL. */
function withoutOtherSign(vector: Vector, rowCount: number): Vector {
  if (vector.kind === "number") {
    const { values, validity } = vector;
    const kept = new Uint8Array(rowCount);
    for (let i = 0; i < rowCount; i++) kept[i] = (values[i] as number) < 0 || validity?.[i] === 0 ? 0 : 1;
    return { ...vector, validity: kept };
  }
  if (vector.kind !== "wide") return vector;
  const { values, validity } = vector;
  const halves = new Int32Array(values.buffer, values.byteOffset, rowCount * 2);
  const kept = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) kept[i] = (halves[2 * i + 1] as number) < 0 || validity?.[i] === 0 ? 0 : 1;
  return { ...vector, validity: kept };
}

/** Whether a row of any of these keys is NULL. */
export function hasNull(vectors: readonly Vector[], rowCount: number): boolean {
  for (const vector of vectors) {
    if (vector.kind !== "dictionary" && vector.kind !== "coded" && vector.validity === undefined) continue;
    for (let row = 0; row < rowCount; row++) if (isNullAt(vector, row)) return true;
  }
  return false;
}

/** Whether a value is NULL. */
export function isNullAt(vector: Vector, row: number): boolean {
  if (vector.kind === "dictionary") return vector.dictionary[vector.codes[row] as number] === undefined;
  return vector.kind === "coded" ? vector.codes[row] === 0 : vector.validity?.[row] === 0;
}
