import { describe, expect, test } from "bun:test";
import { decodeColumns, encodeColumns } from "./column-schema.ts";
import { everyType } from "../testing/every-type.ts";

describe("column descriptions", () => {
  test("come back", () => {
    const { columns } = everyType(1);
    expect(decodeColumns(encodeColumns(columns))).toEqual([...columns]);
  });
  const refuse = (text: string, why: string): void => {
    expect(decodeColumns(text)).toContain(why);
  };
  test("not JSON", () => refuse("{", "not JSON"));
  test("not a list", () => refuse("{}", "not a list"));
  test("an unknown type", () =>
    refuse('[{"name":"a","nullable":true,"role":"field","type":{"kind":"map"}}]', "an unknown column description"));
  test("a missing name", () => refuse('[{"nullable":true,"role":"field","type":{"kind":"date"}}]', "an unknown column description"));
  test("an integer of 24 bits", () =>
    refuse('[{"name":"a","nullable":true,"role":"field","type":{"kind":"int","bits":24,"signed":true}}]', "an unknown column description"));
});
