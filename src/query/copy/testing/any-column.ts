/** Columns of any type with any values, for properties. */
import fc from "fast-check";
import * as types from "../../../column/data-type.ts";
import { type DataType, isNested, type NestedType } from "../../../column/data-type.ts";
import { exactInteger } from "../../../column/exact-integer.ts";
import { encodeNested, type NestedPart } from "../../../column/nested.ts";
import type { Scalar } from "../../../column/vector.ts";

/** A column and its values. */
export interface AnyColumn {
  readonly type: DataType;
  readonly values: readonly Scalar[];
}

const signed = (bits: number): fc.Arbitrary<Scalar> =>
  fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }).map(exactInteger);
const unsigned = (bits: number): fc.Arbitrary<Scalar> => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(exactInteger);
const times = (seconds: bigint, perSecond: bigint): fc.Arbitrary<Scalar> =>
  fc.bigInt({ min: -seconds * perSecond, max: seconds * perSecond });
const decimal = (precision: number, scale: number): readonly [DataType, fc.Arbitrary<Scalar>] => [
  { kind: "decimal", precision, scale },
  fc.bigInt({ min: 1n - 10n ** BigInt(precision), max: 10n ** BigInt(precision) - 1n }).map(exactInteger),
];
const text = fc.string({ unit: "binary", maxLength: 12 });
/** Seconds from 1677 to 2262, which every unit holds. */
const SPAN = 9_223_372_036n;
const DAY = 86_400;

/** Plain types and their values. Text forms of times are those of years 1 to 9999. */
const PLAIN: readonly (readonly [DataType, fc.Arbitrary<Scalar>])[] = [
  [types.BOOLEAN, fc.boolean()],
  [types.INT8, signed(8)],
  [types.INT16, signed(16)],
  [types.INT32, signed(32)],
  [types.INT64, signed(64)],
  [types.UINT8, unsigned(8)],
  [types.UINT16, unsigned(16)],
  [types.UINT32, unsigned(32)],
  [types.UINT64, unsigned(64)],
  [types.FLOAT32, fc.float().map((value) => value + 0)],
  [types.FLOAT64, fc.double().map((value) => value + 0)],
  [types.STRING, text],
  [types.BINARY, fc.uint8Array({ maxLength: 12 })],
  [types.DATE, fc.integer({ min: -700_000, max: 2_900_000 })],
  [types.TIMESTAMP_SECOND, times(SPAN, 1n)],
  [types.TIMESTAMP_MILLISECOND, times(SPAN, 1000n)],
  [types.TIMESTAMP_MICROSECOND, times(SPAN, 1_000_000n)],
  [types.TIMESTAMP_NANOSECOND, times(SPAN, 1_000_000_000n)],
  [{ kind: "time", unit: "second" }, fc.nat({ max: DAY - 1 })],
  [{ kind: "time", unit: "millisecond" }, fc.nat({ max: DAY * 1000 - 1 })],
  [{ kind: "time", unit: "microsecond" }, fc.integer({ min: 0, max: 2 ** 31 }).map((value) => value * 40)],
  [types.TIME_NANOSECOND, fc.integer({ min: 0, max: 2 ** 31 }).map((value) => value * 40_000)],
  [types.DURATION_MILLISECOND, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  decimal(7, 2),
  decimal(18, 5),
  decimal(38, 10),
  [
    types.JSON_TYPE,
    fc.dictionary(fc.string({ maxLength: 3 }), fc.nat(), { maxKeys: 1, noNullPrototype: true }).map((value) => JSON.stringify(value)),
  ],
  [{ kind: "vector", dimension: 2 }, fc.tuple(fc.float(), fc.float()).map((pair) => new Uint8Array(Float32Array.from(pair).buffer))],
];

interface Source {
  readonly type: DataType;
  readonly value: fc.Arbitrary<NestedPart>;
}

const plain: fc.Arbitrary<Source> = fc.constantFrom(...PLAIN).map(([type, value]) => ({ type, value }));

function nested(depth: number): fc.Arbitrary<Source> {
  const inner = depth === 0 ? plain : fc.oneof(plain, nested(depth - 1));
  const list = inner.map(({ type, value }): Source => {
    const own: NestedType = { kind: "list", element: type };
    return { type: own, value: fc.array(orNull(value), { maxLength: 4 }).map((parts) => encodeNested(own, parts)) };
  });
  const struct = fc.array(inner, { minLength: 1, maxLength: 3 }).map((sources): Source => {
    const own: NestedType = { kind: "struct", fields: sources.map(({ type }, i) => ({ name: `f ${i}`, type })) };
    return { type: own, value: fc.tuple(...sources.map(({ value }) => orNull(value))).map((parts) => encodeNested(own, parts)) };
  });
  // Keys in order: objects of JSON would put whole numbers first.
  const map = inner.map(({ type, value }): Source => {
    const own: NestedType = { kind: "map", key: types.STRING, value: type };
    const entries = fc.uniqueArray(
      fc.tuple(
        text.map((key) => `k${key}`),
        orNull(value),
      ),
      { selector: ([key]) => key, maxLength: 3 },
    );
    return { type: own, value: entries.map((pairs) => encodeNested(own, pairs.flat())) };
  });
  return fc.oneof(list, struct, map);
}

function orNull<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 4 });
}

/** One to eight rows of a column of any type, NULL among them. */
export const anyColumn: fc.Arbitrary<AnyColumn> = fc
  .oneof(plain, nested(2))
  .chain(({ type, value }) =>
    fc.array(orNull(value as fc.Arbitrary<Scalar>), { minLength: 1, maxLength: 8 }).map((values) => ({ type, values })),
  );

/** Values as they compare: bytes as hexadecimal, whatever buffer they lie in. */
export function comparable({ type }: Pick<AnyColumn, "type">, values: readonly Scalar[]): readonly unknown[] {
  return values.map((value) => (value instanceof Uint8Array ? `${isNested(type) ? "nested" : type.kind} ${value.toHex()}` : value));
}
