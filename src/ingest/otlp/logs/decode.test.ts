import { describe, expect, test } from "bun:test";
import { rowsOf } from "../../../../test/support/batch-rows.ts";
import { attemptDamaged } from "../../../../test/support/mutations.ts";
import { DbError } from "../../../base/error.ts";
import { INT64, STRING, TIMESTAMP_MILLISECOND } from "../../../column/data-type.ts";
import { ProtoError } from "../../../format/proto/reader.ts";
import type { KnownColumn } from "../../../table/write-batch.ts";
import { OtlpJsonError, protobufOfJson } from "../json.ts";
import { LogDecoder } from "./decode.ts";

const TIME = "1731000000000000005";

function body(request: unknown): Uint8Array {
  return protobufOfJson(new TextEncoder().encode(JSON.stringify(request)), "LogsRequest");
}

function logs(records: readonly unknown[], scope?: unknown, resource?: unknown): Uint8Array {
  return body({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: records }] }] });
}

function attribute(key: string, value: unknown): unknown {
  return { key, value };
}

interface Settings {
  readonly extractKeys?: readonly string[];
  readonly known?: Readonly<Record<string, KnownColumn>>;
}

function decode(bytes: Uint8Array, { extractKeys = [], known = {} }: Settings = {}): ReturnType<LogDecoder["decode"]> {
  const schemas = { columnOf: (_: string, __: string, column: string) => known[column] };
  return new LogDecoder().decode(bytes, { database: "public", table: "logs", extractKeys, schemas });
}

/** Rows as `[tags, time, fields]`. */
function check(bytes: Uint8Array, want: readonly unknown[], settings: Settings = {}): void {
  const rows = rowsOf(decode(bytes, settings).batch);
  expect(rows.map(({ tags, time, fields }): unknown => [tags, time, fields])).toEqual([...want]);
}

const BLANK = {
  trace_id: "",
  span_id: "",
  severity_text: "",
  severity_number: 0,
  log_attributes: "{}",
  trace_flags: 0,
  scope_version: "",
  scope_attributes: "{}",
  scope_schema_url: "",
  resource_attributes: "{}",
  resource_schema_url: "",
};

describe("records", () => {
  test("all parts of a record", () => {
    const record = {
      timeUnixNano: TIME,
      severityNumber: "SEVERITY_NUMBER_WARN",
      severityText: "warn",
      body: { stringValue: "höi\n" },
      traceId: "5B8EFFF798038103D269B633813FC60C",
      spanId: "eee19b7ec3c1b174",
      flags: 1,
      attributes: [
        attribute("b", { intValue: "9007199254740993" }),
        attribute("a", { arrayValue: { values: [{ doubleValue: 1 }, { boolValue: true }, {}] } }),
        attribute("b\u2028", { kvlistValue: { values: [attribute("z", { bytesValue: "aGk=" }), attribute("é", { stringValue: '"' })] } }),
        attribute("b", { stringValue: "last" }),
      ],
    };
    const fields = {
      ...BLANK,
      severity_number: 13,
      severity_text: "warn",
      body: "höi\n",
      trace_id: "5b8efff798038103d269b633813fc60c",
      span_id: "eee19b7ec3c1b174",
      trace_flags: 1,
      log_attributes: '{"a":[1.0,true,null],"b":"last","b\\u2028":{"z":"aGk=","é":"\\""}}',
      scope_version: "2",
      scope_attributes: '{"s":1}',
      resource_attributes: '{"service.name":"shop"}',
    };
    const scope = { name: "lib", version: "2", attributes: [attribute("s", { intValue: 1 })] };
    const resource = { attributes: [attribute("service.name", { stringValue: "shop" })] };
    check(logs([record], scope, resource), [[{ scope_name: "lib" }, BigInt(TIME), fields]]);
  });

  test("a record without a time has the one at which it was seen; without a body it has none", () => {
    check(logs([{ observedTimeUnixNano: TIME }]), [[{}, BigInt(TIME), BLANK]]);
  });

  test("bodies that are no text become JSON", () => {
    for (const [value, text] of [
      [{ intValue: 5 }, "5"],
      [{ kvlistValue: { values: [attribute("k", { stringValue: "v" })] } }, '{"k":"v"}'],
      [{ arrayValue: { values: [] } }, "[]"],
    ] as const) {
      check(logs([{ timeUnixNano: TIME, body: value }]), [[{}, BigInt(TIME), { ...BLANK, body: text }]]);
    }
  });

  test("a time beyond 64 bits rejects its record only", () => {
    const result = decode(logs([{ timeUnixNano: "18446744073709551615" }, { timeUnixNano: TIME }]));
    expect([result.rowCount, result.rejected.count]).toEqual([1, 1]);
    expect(result.rejected.message).toMatch(/beyond what 64 bits hold/);
  });

  test("an empty request has no rows", () => {
    expect(decode(new Uint8Array(0)).rowCount).toBe(0);
  });
});

describe("extracted keys", () => {
  const scope = { name: "s", attributes: [attribute("instance_num", { intValue: 7 })] };
  const resource = { attributes: [attribute("App", { stringValue: "from resource" }), attribute("host", { stringValue: "h" })] };
  const record = { timeUnixNano: TIME, attributes: [attribute("app", { stringValue: "from log" })] };

  test("the record's own wins; columns come as resource, scope and record have them", () => {
    const result = decode(logs([record], scope, resource), { extractKeys: ["app", "host", "instance_num", "none"] });
    expect(rowsOf(result.batch)[0]?.tags).toEqual({ scope_name: "s", app: "from log", host: "h", instance_num: "7" });
    const shape = result.batch.tables[0]?.shape?.slice(14).map(({ name, type }) => [name, type.kind]);
    expect(shape).toEqual([
      ["app", "string"],
      ["host", "string"],
      ["instance_num", "int"],
    ]);
  });

  test("a list can be no tag", () => {
    const bad = { timeUnixNano: TIME, attributes: [attribute("app", { doubleValue: 1 })] };
    expect(() => decode(logs([bad]), { extractKeys: ["app"] })).toThrow(/type is unsupported/);
  });

  test("columns new to a table that exists are fields", () => {
    const known = { timestamp: { type: TIMESTAMP_MILLISECOND, semantic: "timestamp" }, host: { type: STRING, semantic: "tag" } } as const;
    const [row] = rowsOf(decode(logs([record], scope, resource), { extractKeys: ["app", "host"], known }).batch);
    expect([row?.time, row?.tags]).toEqual([1_731_000_000_000n, { host: "h" }]);
    expect(row?.fields).toMatchObject({ scope_name: "s", app: "from log" });
  });

  test("a column that cannot take what is sent refuses the request", () => {
    const known = { body: { type: INT64, semantic: "field" } } as const;
    expect(() => decode(logs([record]), { known })).toThrow(/^failed to align log column 'body' in table 'logs' from String to Int64$/);
  });
});

describe("bad bodies", () => {
  test("cut short or with bytes changed, they are refused or read, never more", () => {
    const good = logs([{ timeUnixNano: TIME, body: { stringValue: "hello" }, attributes: [attribute("a", { intValue: 1 })] }], {
      name: "s",
    });
    const attempt = (bytes: Uint8Array): void => {
      try {
        rowsOf(decode(bytes).batch);
      } catch (error) {
        expect(error instanceof ProtoError || error instanceof DbError).toBe(true);
      }
    };
    attemptDamaged(good, { seed: 7, numRuns: 500 }, attempt);
    expect(() => decode(good.subarray(0, good.length - 3))).toThrow(ProtoError);
  });

  test("JSON that is no request", () => {
    const refuse = (text: string, why: RegExp): void => {
      expect(() => protobufOfJson(new TextEncoder().encode(text), "LogsRequest")).toThrow(why);
    };
    refuse("", /JSON/);
    refuse("[]", /not an object/);
    refuse('{"resourceLogs":{}}', /resourceLogs is not an array/);
    const wrap = (record: string): string => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`;
    refuse(wrap('{"traceId":"xyz"}'), /traceId is not made of hexadecimal digits/);
    refuse(wrap('{"timeUnixNano":"1e3"}'), /timeUnixNano is not a whole number of 64 bits/);
    refuse(wrap('{"timeUnixNano":-1}'), /timeUnixNano is not a whole number/);
    refuse(wrap('{"severityNumber":"LOUD"}'), /severityNumber is not one of its values/);
    refuse(wrap(`{"body":${'{"arrayValue":{"values":['.repeat(1000)}${"]}}".repeat(1000)}}`), /too deep/);
  });

  test("values that nest too deep", () => {
    expect(OtlpJsonError.name).toBe("OtlpJsonError");
    let value: unknown = { stringValue: "x" };
    for (let i = 0; i < 70; i++) value = { arrayValue: { values: [value] } };
    expect(() => decode(logs([{ timeUnixNano: TIME, body: value }]))).toThrow(/more than 64 levels/);
  });
});
