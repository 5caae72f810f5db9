import { expect, test } from "bun:test";
import fc from "fast-check";
import { type DataType, DATE, type TimeUnit } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { datePart } from "../function/time/date-part.ts";
import { functionNamed } from "../function/registry.ts";
import type { TypedExpression } from "./expression.ts";
import { timePartOf, timeParts } from "./time-parts.ts";
import { valueAt } from "./vector-values.ts";

const PARTS = ["year", "isoyear", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second"];

function call(part: string, type: DataType): TypedExpression {
  const args: TypedExpression[] = [
    { kind: "literal", type: { kind: "string" }, value: part },
    { kind: "column", type, index: 0, name: "t" },
  ];
  const found = functionNamed("date_part");
  const functionType = found?.resolve([{ kind: "string" }, type]);
  if (found === undefined || functionType === undefined) throw new Error("date_part takes a text and a time");
  return { kind: "call", type: functionType.result, function: found, functionType, args };
}

function check(part: string, type: DataType, values: readonly Scalar[], vector: Vector): void {
  const got = timeParts(call(part, type), { rowCount: values.length, vectors: [vector] });
  if (got === undefined) throw new Error(`parts of ${vector.kind}`);
  const want = values.map((value) => (value === undefined ? undefined : datePart(part, value, type)));
  expect(values.map((_, row) => valueAt(got, { kind: "int", bits: 32, signed: true }, row))).toEqual(want);
}

test("parts of times of every unit are those of the function", () => {
  const unit = fc.constantFrom<TimeUnit>("second", "millisecond", "microsecond", "nanosecond");
  const near = fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n });
  const day = fc.integer({ min: -200_000, max: 200_000 });
  fc.assert(
    fc.property(
      fc.constantFrom(...PARTS),
      unit,
      near,
      fc.array(fc.option(fc.oneof(day, fc.maxSafeInteger())), { minLength: 1 }),
      (part, own, base, list) => {
        const type = { kind: "timestamp", unit: own } as const;
        const offsets = Float64Array.from(list, (offset) => Math.trunc((offset ?? 0) / 2));
        const validity = list.includes(null) ? Uint8Array.from(list, (offset) => (offset === null ? 0 : 1)) : undefined;
        const values = list.map((offset, row) => (offset === null ? undefined : base + BigInt(offsets[row]!)));
        check(part, type, values, { kind: "time", base, offsets, validity });
      },
    ),
    { seed: 9, numRuns: 2000 },
  );
});

test("parts of dates are those of the function", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PARTS.slice(0, 9)),
      fc.array(fc.option(fc.integer({ min: -800_000, max: 3_000_000 }), { nil: undefined })),
      (part, days) => check(part, DATE, days, vectorOf(DATE, days)),
    ),
    { seed: 10, numRuns: 300 },
  );
});

test("other parts, and parts of what is no column, are left to the interpreter", () => {
  expect(timePartOf(call("nanosecond", { kind: "timestamp", unit: "second" }))).toBeUndefined();
  expect(timePartOf(call("hour", DATE))).toBeUndefined();
});
