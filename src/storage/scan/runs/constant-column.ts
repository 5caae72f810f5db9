import type { DataType } from "../../../column/data-type.ts";
import type { Scalar, Vector } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";

/** One value for any number of rows: what a column holds in files that are older than it. */
export class ConstantColumn {
  readonly value: Scalar;
  private readonly type: DataType;
  private rows = 0;
  private vector: Vector | undefined;

  constructor(type: DataType, value: Scalar) {
    this.type = type;
    this.value = value;
  }

  /** A vector of at least `rows` rows, the same one as long as it is long enough. */
  atLeast(rows: number): Vector {
    if (this.vector === undefined || this.rows < rows) {
      this.rows = Math.max(rows, this.rows * 2);
      this.vector = vectorOf(this.type, new Array<Scalar>(this.rows).fill(this.value));
    }
    return this.vector;
  }
}
