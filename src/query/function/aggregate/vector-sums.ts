/** `vec_sum`, `vec_product`, `vec_avg`: element by element over vectors of one length, in 64-bit floats until the end. */
import { BINARY } from "../../../column/data-type.ts";
import { bytesOfElements, elementsOf, lengthsDiffer } from "../value/vector-elements.ts";
import type { AggregateFunction } from "./accumulator.ts";

/** One vector, its bytes or its text, to bytes. */
export const vectorType: AggregateFunction["resolve"] = ([type, ...rest]) =>
  type !== undefined && rest.length === 0 && ["vector", "binary", "string", "null"].includes(type.kind)
    ? { args: [type], result: BINARY }
    : undefined;

/** `divides`: by the number of vectors at the end. NULL when there are none. */
export function vectorFold(name: string, combine: (a: number, b: number) => number, divides: boolean): AggregateFunction["create"] {
  return (_, reserve) => {
    let folded: Float64Array | undefined;
    let count = 0;
    return {
      add([vector]) {
        const elements = elementsOf(vector);
        count++;
        if (folded === undefined) {
          reserve(elements.length * 8);
          folded = Float64Array.from(elements);
          return;
        }
        if (folded.length !== elements.length) throw lengthsDiffer(name, folded.length, elements.length);
        for (const [i, element] of elements.entries()) folded[i] = combine(folded[i] ?? 0, element);
      },
      result: () => (folded === undefined ? undefined : bytesOfElements(Float32Array.from(folded, (sum) => (divides ? sum / count : sum)))),
    };
  };
}
