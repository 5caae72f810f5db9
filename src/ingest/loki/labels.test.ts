import { expect, test } from "bun:test";
import { parseLabels } from "./labels.ts";

function check(text: string, want: Readonly<Record<string, string>> | undefined): void {
  const labels = parseLabels(text);
  if (want === undefined) return expect([text, labels]).toEqual([text, undefined]);
  expect(labels?.names).toEqual(Object.keys(want));
  expect(labels?.values).toEqual(Object.values(want));
}

test("reads label sets, by name", () => {
  check('{service="test",source="integration",wadaxi="do anything"}', { service: "test", source: "integration", wadaxi: "do anything" });
  check('{b="2", a="1"}', { a: "1", b: "2" });
  check(' { a = "1" , } ', { a: "1" });
  check("{}", {});
  check('{__name="cpu",a.b-c="x"}', { __name: "cpu", "a.b-c": "x" });
  check('{a=`raw \\n "text"`}', { a: 'raw \\n "text"' });
  check('{"a name"="x"}', { "a name": "x" });
});

test("takes the escapes of Go out of values", () => {
  check(String.raw`{a="\"q\" \\ \n\t\a\u00e9\U0001F600\x41\101"}`, { a: '"q" \\ \n\t\x07é\u{1f600}AA' });
  check(String.raw`{a="\xc3\xa9\303\251"}`, { a: "éé" });
  check(String.raw`{a="\xff"}`, { a: "\ufffd" });
});

test("leaves out empty values; of equal names the last counts", () => {
  check('{a="",b="1",b="2"}', { b: "2" });
});

test("refuses what is no label set", () => {
  const texts = ["", "{", "}", "a", '{a="1"', '{a="1"} x', '{a="1" b="2"}', "{a=1}", '{="1"}', '{""="1"}', '{a=="1"}', "{,}", '{a="1",,}'];
  for (const text of [...texts, '{a="\\q"}', '{a="\\ud800"}', '{a="\\U99999999"}', '{a="x\ny"}', '{a:"1"}', '{{a="1"}}'])
    check(text, undefined);
});
