import { expect, test } from "bun:test";
import { parsePromql } from "./parse.ts";
import { treeJson } from "./tree-json.ts";

/** The tree of a text as JSON, in the order of its fields. */
function check(text: string, want: string): void {
  const parsed = parsePromql(text);
  expect(parsed.ok ? JSON.stringify(treeJson(parsed.expression)) : parsed.problem.message).toBe(want);
}

const SELECTOR = (name: string): string =>
  `{"anchored":false,"matchers":[{"name":"__name__","type":"=","value":"${name}"}],"name":"${name}","offset":0,"offsetExpr":null,` +
  '"smoothed":false,"startOrEnd":null,"timestamp":null,"type":"vectorSelector"}';

test("selectors", () => {
  check("up", SELECTOR("up"));
  check(
    'up{a!~"b"}[5m] offset -1s @ 2.5 smoothed',
    '{"anchored":false,"matchers":[{"name":"a","type":"!~","value":"b"},{"name":"__name__","type":"=","value":"up"}],"name":"up",' +
      '"offset":-1000,"offsetExpr":null,"range":300000,"rangeExpr":null,"smoothed":true,"startOrEnd":null,"timestamp":2500,' +
      '"type":"matrixSelector"}',
  );
  check(
    "up[1h:(5m)] @ end() offset step()",
    `{"expr":${SELECTOR("up")},"offset":0,"offsetExpr":{"lhs":null,"op":"step","rhs":null,"type":"durationExpr",` +
      '"wrapped":false},"range":3600000,"rangeExpr":null,"startOrEnd":"end","step":0,"stepExpr":{"lhs":null,"op":"+",' +
      '"rhs":{"duration":true,"type":"numberLiteral","val":"300"},"type":"durationExpr","wrapped":true},' +
      '"timestamp":null,"type":"subquery"}',
  );
});

test("literals; bytes that are no text are replaced", () => {
  check("-1e-7", '{"type":"numberLiteral","val":"-0.0000001"}');
  check('"a\\xff"', '{"type":"stringLiteral","val":"a\ufffd"}');
});

test("operators with their matching", () => {
  check(
    "-(a) / on (x) group_left (y) fill_right (Inf) b",
    `{"bool":false,"lhs":{"expr":{"expr":${SELECTOR("a")},"type":"parenExpr"},"op":"-","type":"unaryExpr"},` +
      '"matching":{"card":"many-to-one","fillValues":{"lhs":null,"rhs":"+Inf"},"include":["y"],"labels":["x"],"on":true},' +
      `"op":"/","rhs":${SELECTOR("b")},"type":"binaryExpr"}`,
  );
  check(
    "1 > bool 2",
    '{"bool":true,"lhs":{"type":"numberLiteral","val":"1"},"matching":null,"op":">","rhs":{"type":"numberLiteral","val":"2"},' +
      '"type":"binaryExpr"}',
  );
});

test("calls and aggregations", () => {
  check(
    "topk without (x) (3, hour(a))",
    `{"expr":{"args":[${SELECTOR("a")}],"func":{"argTypes":["vector"],"name":"hour","returnType":"vector","variadic":1},"type":"call"},` +
      '"grouping":["x"],"op":"topk","param":{"type":"numberLiteral","val":"3"},"type":"aggregation","without":true}',
  );
  check("sum(a)", `{"expr":${SELECTOR("a")},"grouping":[],"op":"sum","param":null,"type":"aggregation","without":false}`);
});
