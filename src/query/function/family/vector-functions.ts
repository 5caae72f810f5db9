/**
 * Functions on vectors of 32-bit floats (contract query.md 2.5). An argument is a VECTOR, its bytes, or its text `[1,2]`; results that are
 * vectors are bytes. Every step rounds to 32 bits, as the type does.
 */
import { BINARY, type DataType, FLOAT32, INT64, STRING, UINT64 } from "../../../column/data-type.ts";
import { embeddingText } from "../../../value/embedding.ts";
import { type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { isNumeric, typed } from "../signature/signature.ts";
import { type Present, textOf } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { toEmbedding } from "../../../value/cast-document.ts";
import { bytesOfElements, elementsOf, lengthsDiffer } from "../value/vector-elements.ts";

const round = Math.fround;
const VECTOR_KINDS: readonly string[] = ["vector", "binary", "string", "null"];
const isVector = (type: DataType | undefined): boolean => type !== undefined && VECTOR_KINDS.includes(type.kind);

function ofVector(signature: string, result: DataType, run: (vector: Float32Array) => number | Uint8Array): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => (args.length === 1 && isVector(args[0]) ? { args, result } : undefined);
  return strict(signature, resolve, ([vector]) => run(elementsOf(vector)));
}

/** Of two vectors of one length. */
function ofVectors(name: string, result: DataType, run: (a: Float32Array, b: Float32Array) => number | Uint8Array): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = (args) => (args.length === 2 && args.every(isVector) ? { args, result } : undefined);
  return strict(`${name}(vector, vector)`, resolve, ([x, y]) => {
    const [a, b] = [elementsOf(x), elementsOf(y)];
    if (a.length !== b.length) throw lengthsDiffer(name, a.length, b.length);
    return run(a, b);
  });
}

/** Element by element. */
function pairwise(name: string, run: (a: number, b: number) => number): ScalarFunction {
  return ofVectors(name, BINARY, (a, b) => bytesOfElements(a.map((element, i) => run(element, b[i] as number))));
}

/** A number and every element of a vector. */
function scaled(name: string, run: (number: number, element: number) => number): ScalarFunction {
  const resolve: ScalarFunction["resolve"] = ([number, vector, ...rest]) => {
    if (number === undefined || rest.length > 0 || !isVector(vector)) return undefined;
    return isNumeric(number) || number.kind === "decimal" || number.kind === "null"
      ? { args: [FLOAT32, vector as DataType], result: BINARY }
      : undefined;
  };
  return strict(`${name}(number, vector)`, resolve, ([number, vector]) =>
    bytesOfElements(elementsOf(vector).map((element) => run(Number(number), element))),
  );
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [i, element] of a.entries()) sum += element * (b[i] as number);
  return sum;
}

/** 1 - cos of the angle; 1 when a vector has no direction, and 0 for what is nearer than 32-bit floats tell. */
function cosineDistance(a: Float32Array, b: Float32Array): number {
  const lengths = Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b));
  if (lengths === 0) return 1;
  const distance = round(1 - dot(a, b) / lengths);
  return Math.abs(distance) < FLOAT32_EPSILON ? 0 : distance;
}

/** The step from 1 to the next 32-bit float. */
const FLOAT32_EPSILON = 2 ** -23;

function squaredDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [i, element] of a.entries()) sum += (element - (b[i] as number)) ** 2;
  return sum;
}

function sumOf(vector: Float32Array): number {
  let sum = 0;
  for (const element of vector) sum += element;
  return sum;
}

function productOf(vector: Float32Array): number {
  let product = 1;
  for (const element of vector) product = round(product * element);
  return product;
}

function unitVector(vector: Float32Array): Float32Array {
  const length = round(Math.sqrt(dot(vector, vector)));
  return vector.map((element) => element / length);
}

function elementAt(vector: Float32Array, at: number): number {
  const element = vector[at];
  if (element !== undefined) return element;
  const why = vector.length === 0 ? "the vector is empty" : `k must be in 0..${vector.length - 1}, got ${at}`;
  throw executionError(`Out of range: ${why}`);
}

function subvector(vector: Float32Array, start: number, end: number): Float32Array {
  if (start >= 0 && end >= start && end <= vector.length) return vector.slice(start, end);
  throw executionError(`Invalid start and end indices: start=${start}, end=${end}, vec_len=${vector.length}`);
}

/** (vector, integer × count). */
function vectorAndIntegers(count: number, result: DataType): ScalarFunction["resolve"] {
  return ([vector, ...rest]) => {
    const integers = rest.every((type) => type.kind === "int" || type.kind === "null");
    if (rest.length !== count || !integers || !isVector(vector)) return undefined;
    return { args: [vector as DataType, ...rest.map(() => INT64)], result };
  };
}

/** The functions of this file. */
export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  strict("parse_vec(text)", typed(["text"], BINARY), ([text]) => toEmbedding(textOf(text))),
  strict(
    "vec_to_string(vector)",
    (args) => (args.length === 1 && isVector(args[0]) ? { args, result: STRING } : undefined),
    ([vector]) => embeddingText(toEmbedding(vector as Present)),
  ),
  ofVectors("vec_cos_distance", FLOAT32, cosineDistance),
  ofVectors("vec_dot_product", FLOAT32, (a, b) => round(dot(a, b))),
  ofVectors("vec_l2sq_distance", FLOAT32, (a, b) => round(squaredDistance(a, b))),
  scaled("vec_scalar_add", (number, element) => number + element),
  scaled("vec_scalar_mul", (number, element) => number * element),
  pairwise("vec_add", (a, b) => a + b),
  pairwise("vec_sub", (a, b) => a - b),
  pairwise("vec_mul", (a, b) => a * b),
  pairwise("vec_div", (a, b) => a / b),
  ofVector("vec_norm(vector)", BINARY, (vector) => bytesOfElements(unitVector(vector))),
  ofVector("vec_dim(vector)", UINT64, (vector) => vector.length),
  ofVector("vec_elem_sum(vector)", FLOAT32, (vector) => round(sumOf(vector))),
  ofVector("vec_elem_avg(vector)", FLOAT32, (vector) => round(sumOf(vector) / vector.length)),
  ofVector("vec_elem_product(vector)", FLOAT32, productOf),
  strict("vec_kth_elem(vector, k)", vectorAndIntegers(1, FLOAT32), ([vector, k]) => elementAt(elementsOf(vector), Number(k))),
  strict("vec_subvector(vector, start, end)", vectorAndIntegers(2, BINARY), ([vector, start, end]) =>
    bytesOfElements(subvector(elementsOf(vector), Number(start), Number(end))),
  ),
];
