import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runOptions } from "../../../test/support/pipeline/shown.ts";
import { INT64, STRING } from "../../column/data-type.ts";
import { scalarAt } from "../../column/scalar.ts";
import { identityPipeline } from "../pipeline/decode.ts";
import type { CompiledPipeline, PipelineResult, PipelineRunOptions } from "../pipeline/types.ts";
import { decodeDocuments, textOf } from "./decode.ts";
import { runDocuments } from "./scanned.ts";
import type { DocumentType } from "./types.ts";

const OPTIONS: PipelineRunOptions = runOptions({ table: "logs", nowNanos: 1_716_668_197_000_000_000n });
const encoder = new TextEncoder();
const identity = identityPipeline();

/** Everything that a result holds, as text. */
function shown({ groups, ...rest }: PipelineResult): unknown {
  return {
    ...rest,
    groups: groups.map(({ hints, rowCount, batch }) => ({
      hints: [...hints],
      rowCount,
      tables: batch.tables.map(({ times, keys, fields, shape, ...write }) => ({
        ...write,
        shape,
        times: Array.from({ length: write.rowCount }, (_, row) => times.base + BigInt(times.offsets[row] ?? 0)),
        tags: Array.from({ length: write.rowCount }, (_, row) => batch.dictionary.tagsOf(keys[row] ?? 0)),
        fields: fields.map(({ name, type, vector }) => ({
          name,
          type,
          cells: Array.from({ length: write.rowCount }, (_, row) => scalarAt(vector, type, row)),
        })),
      })),
    })),
  };
}

function outcome(work: () => PipelineResult): unknown {
  try {
    return shown(work());
  } catch (error) {
    return String(error);
  }
}

/** The long way is the oracle: both must give the same rows, columns, order and errors. */
function check(
  body: string | Uint8Array,
  type: DocumentType,
  extra: Partial<PipelineRunOptions> = {},
  ignoreErrors = false,
  pipeline: CompiledPipeline = identity,
): unknown {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const options = { ...OPTIONS, ...extra };
  const want = outcome(() => pipeline.run(decodeDocuments(textOf(bytes), type, ignoreErrors), options));
  const got = outcome(() => runDocuments(bytes, type, ignoreErrors, pipeline, options));
  expect(got).toEqual(want);
  return got;
}

/** Objects that were read in place, by a pipeline that says so. */
function takenInPlace(body: string, type: DocumentType): number {
  let taken = 0;
  const watched: CompiledPipeline = {
    dispatchTargets: identity.dispatchTargets,
    hasVariableTable: false,
    columns: () => undefined,
    run: (rows, options) => identity.run(rows, options),
    scan: (bytes, options) => {
      const scan = identity.scan(bytes, options);
      return scan === undefined
        ? undefined
        : {
            add: (row) => scan.add(row),
            result: () => scan.result(),
            take: (start) => {
              const behind = scan.take(start);
              if (behind >= 0) taken++;
              return behind;
            },
          };
    },
  };
  runDocuments(encoder.encode(body), type, false, watched, OPTIONS);
  return taken;
}

const NDJSON = "application/x-ndjson";
const JSON_BODY = "application/json";
const FLAT = '{"a":"x","n":1,"f":0.5,"b":true}';

describe("rows that are read in place", () => {
  test("all but the first of flat rows are", () => {
    expect(takenInPlace(`${FLAT}\n${FLAT}\r\n\n${FLAT}`, NDJSON)).toBe(2);
    expect(takenInPlace(`[${FLAT}, ${FLAT}] ${FLAT}${FLAT}`, JSON_BODY)).toBe(3);
  });

  test("go on after one that is not", () => {
    const odd = '{"a":"y","o":{"p":1}}';
    expect(takenInPlace([FLAT, odd, FLAT, '{"new":1}', FLAT, '{"new":2,"f":null}'].join("\n"), NDJSON)).toBe(3);
  });

  const rows = [
    ["in another order, with blanks", '{ "b" : false ,\t"a":"z" , "f": -1.5e3 }'],
    ["without some fields, with NULL in others", '{"a":null,"n":7,"unknown":null}'],
    ["texts with escapes and other planes", '{"a":"\\u00e9\\n\\"\\\\\\/ \\ud83d\\ude00 é😀 \\t\\b\\f\\r"}'],
    ["half of a surrogate pair", '{"a":"\\ud83d x \\ude00 \\ud83d\\u0041"}'],
    ["a name with an escape", '{"\\u0061":"x"}'],
    ["a name that comes twice", '{"a":"first","a":"second"}'],
    ["whole floats", '{"f":1.0}'],
    ["floats of many digits", '{"f":0.0019821605550049554}'],
    ["a float with an exponent", '{"f":12E-3}'],
    ["negative nought", '{"n":-0,"f":-0.0}'],
    ["integers of 15, 16 and 19 digits", '{"n":999999999999999}\n{"n":-9007199254740993}\n{"n":9223372036854775807}'],
    ["an empty object", "{}"],
    ["hints in a row", '{"a":"h","greptime_ttl":"1d"}\n{"a":"i"}'],
    ["a hint that is NULL", '{"a":"h","greptime_ttl":null}'],
    ["a field with the name of the time index", '{"a":"h","greptime_timestamp":5}'],
    ["arrays and objects", '{"a":"h","list":[1,"]",{}],"o":{"x":{"y":"}"}}}'],
    ["a name of Object.prototype", '{"__proto__":"x","constructor":1}\n{"__proto__":"y","constructor":2}'],
  ] as const;
  test.each(rows)("%s", (_name, row) => {
    check([FLAT, row, FLAT, row].join("\n"), NDJSON);
    check(`[${[FLAT, ...row.split("\n"), FLAT].join(" ,\n")}]`, JSON_BODY);
    check([FLAT, row, FLAT].join(""), JSON_BODY);
  });

  test("a mark of byte order is left out", () => {
    check(`\uFEFF${FLAT}\n${FLAT}`, NDJSON);
    check(`\uFEFF${FLAT}${FLAT}`, JSON_BODY);
  });

  test("columns of the table lend their type and role", () => {
    const types = {
      a: { type: { kind: "string" }, semantic: "tag" },
      n: { type: { kind: "float", bits: 64 }, semantic: "field" },
    } as const;
    const columnOf: PipelineRunOptions["schemas"]["columnOf"] = (_database, _table, name) =>
      name === "a" || name === "n" ? types[name] : undefined;
    check(`${FLAT}\n${FLAT}`, NDJSON, { schemas: { columnOf } }); // n holds integers: a mismatch
    check('{"a":"x","f":1}\n{"a":"y","f":2}\n{"f":2,"n":1.5}', NDJSON, { schemas: { columnOf } });
    check('{"f":1}\n{"f":2}\n{"a":"y","f":3}\n{"a":"z","f":4}', NDJSON, { schemas: { columnOf } });
    check('{"a":"x"}\n{"a":""}\n{"a":"\\u0078"}\n{"a":null}\n{"a":5}', NDJSON, { schemas: { columnOf }, skipError: true });
    const tags: PipelineRunOptions["schemas"]["columnOf"] = (_database, _table, name) =>
      name === "f" ? undefined : { type: name === "n" ? INT64 : STRING, semantic: "tag" };
    check('{"a":"x","n":1,"c":"z"}\n{"c":"z","a":"x","n":1}\n{"a":"x","c":"z"}\n{"c":"z","f":0.5}', NDJSON, {
      schemas: { columnOf: tags },
    });
  });

  test.each([
    ["at;epoch;ms", ["1", '"2"', "-3"]],
    ["at;epoch;ns", ["1716668197217000000", "1", '"x"']],
    ["at;datestr;%Y-%m-%d %H:%M:%S%z", ['"2024-05-25 20:16:37+0000"', '"2024-05-25 20:16:37+0230"', '"soon"']],
  ] as const)("the time index %s", (customTimeIndex, values) => {
    const pipeline = identityPipeline({ customTimeIndex });
    const lines = [...values, ...values, "null", "1.5", "true", '"\\u0031"'].map((value) => `{"a":"x","at":${value},"n":1}`);
    for (const count of [3, 4, 5, 6, 7, 10]) {
      for (const ignoreErrors of [false, true]) {
        const body = [...lines.slice(0, count), FLAT, FLAT].join("\n");
        check(body, NDJSON, { ignoreErrors }, false, pipeline);
        check(body, NDJSON, { ignoreErrors, skipError: true }, false, pipeline);
      }
    }
    check([lines[0], lines[1], lines[0], lines[1]].join("\n"), NDJSON, {}, false, pipeline);
  });
});

describe("bodies with errors are answered as the long way does", () => {
  const bad = [
    '{"a":1}',
    '{"n":1.5}',
    '{"n":"text"}',
    '{"b":1}',
    '{"a":"cut',
    '{"a":"x"',
    '{"a":"x"}}',
    '{"a":"x"} {"a":"y"}',
    '{"a":"x",}',
    '{"a" "x"}',
    '{"a":tru}',
    '{"a":nul}',
    '{"a":truest}',
    '{"n":01}',
    '{"n":1.}',
    '{"f":.5}',
    '{"f":1.5e}',
    '{"f":1e999}',
    '{"n":-}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\t"}',
    "{a:1}",
    "{",
    "[",
    "nothing",
    "7",
    "[{}]",
    `{"o":${'{"o":'.repeat(200)}1${"}".repeat(201)}`,
  ];
  test.each(bad)("%s", (line) => {
    for (const skipError of [false, true]) {
      for (const ignoreErrors of [false, true]) {
        check([FLAT, line, FLAT].join("\n"), NDJSON, { skipError }, ignoreErrors);
        check([FLAT, line, FLAT].join("\n"), JSON_BODY, { skipError }, ignoreErrors);
        check(`[${FLAT},${line},${FLAT}]`, JSON_BODY, { skipError }, ignoreErrors);
      }
    }
  });

  test("arrays that do not end or hold no objects", () => {
    for (const body of [`[${FLAT}`, `[${FLAT},`, `[${FLAT},]`, `[,${FLAT}]`, `[${FLAT} ${FLAT}]`, `[1,${FLAT}]`, "[]", "[] []", "[[]]", ""])
      check(body, JSON_BODY);
  });

  test("what is no UTF-8", () => {
    check(Uint8Array.from([...encoder.encode(`${FLAT}\n{"a":"`), 0xc3, 0x22, 0x7d]), NDJSON);
  });
});

const scalar = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.integer(),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.boolean(),
  fc.constant(null),
);
const document = fc.dictionary(
  fc.constantFrom("a", "b", "c", "é", 'q"', "\\", "greptime_skip_wal"),
  fc.oneof({ weight: 9, arbitrary: scalar }, { weight: 1, arbitrary: fc.array(scalar) }),
);

test("any documents", () => {
  fc.assert(
    fc.property(fc.array(document, { maxLength: 12 }), fc.boolean(), (documents, skipError) => {
      const texts = documents.map((each) => JSON.stringify(each));
      check(texts.join("\n"), NDJSON, { skipError });
      check(JSON.stringify(documents), JSON_BODY, { skipError });
    }),
    { numRuns: 60, seed: 11 },
  );
});

test("any documents with a byte changed", () => {
  const rows = fc.array(
    fc.record({ a: fc.string(), n: fc.integer(), f: fc.double({ noNaN: true, noDefaultInfinity: true }), b: fc.boolean() }),
    {
      minLength: 2,
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(rows, fc.nat(), fc.constantFrom(...Array.from('{}[]",:\\ \n0e.-t\u0000')), (documents, place, character) => {
      const text = documents.map((each) => JSON.stringify(each)).join("\n");
      const at = place % text.length;
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      check(changed, NDJSON, { skipError: place % 2 === 0 }, place % 3 === 0);
      check(changed, JSON_BODY, { skipError: place % 2 === 0 }, place % 3 === 0);
    }),
    { numRuns: 100, seed: 12 },
  );
});
