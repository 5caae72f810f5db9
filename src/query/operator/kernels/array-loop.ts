/** Loops over the values of a column, one generated function for each array class and NULL form: a shared one turns megamorphic. */
import type { NumberArray, Validity } from "../../../column/vector.ts";
import { generated } from "../../expression/generated-code.ts";

type AnyLoop = (...args: never[]) => void;

/** By name, array class and NULL form. */
const loops = new Map<string, AnyLoop>();

/**
 * The loop called `name` over arrays of this one's class, with NULLs or without; made once.
 *
 * @param name of one body and one list of parameters
 */
export function arrayLoop<F extends AnyLoop>(
  name: string,
  parameters: readonly string[],
  array: NumberArray,
  validity: Validity,
  body: (nullable: boolean, className: string) => string,
): F {
  const className = array.constructor.name;
  const nullable = validity !== undefined;
  const key = `${name} ${className} ${nullable}`;
  const known = loops.get(key);
  if (known !== undefined) return known as F;
  const made = generated<F>(name, parameters, `// ${key}\n${body(nullable, className)}`);
  loops.set(key, made);
  return made;
}
