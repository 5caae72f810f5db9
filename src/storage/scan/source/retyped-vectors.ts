import type { DataType } from "../../../column/data-type.ts";
import { retypeVector } from "../../../value/retype.ts";
import type { Vector } from "../../../column/vector.ts";

/** Values cast to another type, each vector once for as long as it lives: pages stay in the cache, and many ranges share one. */
export class RetypedVectors {
  private readonly known: WeakMap<Vector, Vector> = new WeakMap();

  /** The vector under the new type. It is always asked for the same pair of types. */
  of(vector: Vector, from: DataType, to: DataType): Vector {
    let retyped = this.known.get(vector);
    if (retyped === undefined) {
      retyped = retypeVector(vector, from, to);
      this.known.set(vector, retyped);
    }
    return retyped;
  }
}
