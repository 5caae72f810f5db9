import type { DataType } from "../../../column/data-type.ts";
import { retypeVector } from "../../../value/retype.ts";
import type { Vector } from "../../../column/vector.ts";

/** An id and type under which older rows hold a column's values. */
export interface StoredAs {
  readonly id: number;
  readonly type: DataType;
}

/** The newest of a column's earlier forms that a source has, with what `find` says about it; undefined when it has none. */
export function formerIn<T>(
  former: readonly StoredAs[] | undefined,
  find: (id: number) => T | undefined,
): { readonly type: DataType; readonly found: T } | undefined {
  if (former === undefined) return undefined;
  for (let i = former.length - 1; i >= 0; i--) {
    const stored = former[i];
    if (stored === undefined) continue;
    const found = find(stored.id);
    if (found !== undefined) return { type: stored.type, found };
  }
  return undefined;
}

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
