/** Random requests for property tests. */
import fc from "fast-check";
import type { DataType } from "../../../src/column/data-type.ts";
import type { Scalar } from "../../../src/column/vector.ts";
import type { FieldColumn, Request } from "./rows.ts";

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): DataType => ({ kind: "int", bits, signed });

/** Small numbers mostly, so that narrow and wide chunks meet; sometimes the ends of the type. */
function integers(min: bigint, max: bigint): fc.Arbitrary<Scalar> {
  const exact = (value: bigint): Scalar => (Number.isSafeInteger(Number(value)) ? Number(value) : value);
  const near = [0n, 1n, -1n, 127n, 128n, -128n, -129n, 32_767n, 32_768n, -32_769n, 2n ** 31n, -(2n ** 31n) - 1n, min, max];
  return fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: min < 0n ? -100 : 0, max: 100 }) },
    { weight: 2, arbitrary: fc.constantFrom(...near.filter((value) => value >= min && value <= max).map(exact)) },
    { weight: 1, arbitrary: fc.bigInt({ min, max }).map(exact) },
  );
}

/** Unscaled values of a decimal. */
function decimals(digits: number): fc.Arbitrary<Scalar> {
  return integers(1n - 10n ** BigInt(digits), 10n ** BigInt(digits) - 1n);
}

/** A column of each kind of vector and width, with arbitrary values of it. */
const FIELD_KINDS: readonly (readonly [DataType, fc.Arbitrary<Scalar>])[] = [
  [int(8, true), integers(-128n, 127n)],
  [int(32, false), integers(0n, 2n ** 32n - 1n)],
  [int(64, true), integers(-(2n ** 63n), 2n ** 63n - 1n)],
  [int(64, false), integers(0n, 2n ** 64n - 1n)],
  [{ kind: "float", bits: 64 }, fc.double()],
  [{ kind: "float", bits: 32 }, fc.float()],
  [{ kind: "boolean" }, fc.boolean()],
  [{ kind: "date" }, fc.integer({ min: -100_000, max: 100_000 })],
  [{ kind: "string" }, fc.string({ unit: "binary", maxLength: 6 })],
  [{ kind: "binary" }, fc.uint8Array({ maxLength: 6 })],
  [{ kind: "timestamp", unit: "millisecond" }, fc.bigInt({ min: -(2n ** 51n), max: 2n ** 51n })],
  [
    { kind: "timestamp", unit: "microsecond" },
    fc.oneof(fc.bigInt({ min: -99n, max: 99n }), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n })),
  ],
  [{ kind: "decimal", precision: 8, scale: 3 }, decimals(8)],
  [{ kind: "decimal", precision: 18, scale: 6 }, decimals(18)],
  [{ kind: "decimal", precision: 38, scale: 10 }, decimals(38)],
  [{ kind: "time", unit: "second" }, fc.integer({ min: 0, max: 86_399 })],
  [{ kind: "time", unit: "microsecond" }, fc.integer({ min: 0, max: 86_399_999_999 })],
  [{ kind: "json" }, fc.constantFrom("{}", '{"a":[1,null]}', "true", '"é"')],
  [{ kind: "vector", dimension: 2 }, fc.uint8Array({ minLength: 8, maxLength: 8 })],
];

/** One field column a kind; ids begin at 10. */
export const FIELDS: readonly FieldColumn[] = FIELD_KINDS.map(([type], index) => ({ id: 10 + index, type }));

/** A request of some rows over `seriesCount` series and few distinct times, so that duplicates are common. */
export function requestOf(seriesCount: number, time: fc.Arbitrary<bigint>): fc.Arbitrary<Request> {
  const row = fc.record({
    series: fc.integer({ min: 0, max: seriesCount - 1 }),
    time,
    values: fc.tuple(...FIELD_KINDS.map(([, values]) => fc.option(values, { nil: undefined, freq: 3 }))),
  });
  return fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 12 }),
    columnIds: fc.subarray(FIELDS.map(({ id }) => id)),
  });
}
