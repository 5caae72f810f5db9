import { describe, expect, test } from "bun:test";
import { bytesField, textField } from "../../../test/support/prometheus/messages.ts";
import { REMOTE_WRITE } from "../../../test/support/prometheus/options.ts";
import { LABEL_NODES_MAX } from "./limits.ts";
import { locateLabels, PlainLabels } from "./plain-labels.ts";
import type { RemoteWriteOptions } from "./types.ts";

const OPTIONS: RemoteWriteOptions = { ...REMOTE_WRITE, acceptsTable: (name) => name !== "no/table" };

type Labels = readonly (readonly [string, string])[];

function bytesOf(labels: Labels): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(labels.flatMap(([name, value]) => bytesField(1, [...textField(1, name), ...textField(2, value)])));
}

/** Metric and labels as they are read from the bytes; undefined when they are not usual. */
function read(plain: PlainLabels, bytes: Uint8Array<ArrayBuffer>): string | undefined {
  const shape = plain.shapeOf(bytes, new DataView(bytes.buffer), 0, bytes.length);
  if (shape === undefined) return undefined;
  const spans = new Uint32Array(2 * shape.names.length);
  locateLabels(bytes, 0, bytes.length, shape, spans, 0);
  const text = (i: number): string => new TextDecoder().decode(bytes.subarray(spans[2 * i], spans[2 * i + 1]));
  return `${shape.table}{${shape.names.map((name, i) => `${name}=${text(i)}`).join(",")}}`;
}

const NAME = ["__name__", "up"] as const;

describe("labels from their bytes", () => {
  const check = (labels: Labels, want: string | undefined): void => {
    const plain = new PlainLabels(OPTIONS);
    expect(read(plain, bytesOf(labels))).toBe(want as string);
    expect(read(plain, bytesOf(labels))).toBe(want as string); // Now known.
  };

  test("are the metric and the tags, wherever the name stands", () => {
    check([NAME], "up{}");
    check([NAME, ["job", "a"], ["zone", "b"]], "up{job=a,zone=b}");
    check([["job", "a"], NAME, ["zone", "b"]], "up{job=a,zone=b}");
    check([NAME, ["text", "x".repeat(5000)], ["zone", "b"]], `up{text=${"x".repeat(5000)},zone=b}`);
  });

  test("that are not usual are left to others", () => {
    check([["job", "a"]], undefined);
    check([NAME, ["job", ""]], undefined);
    check([NAME, ["job", "é"]], undefined);
    check([NAME, ["jöb", "a"]], undefined);
    check([NAME, ["a\tb", "c"]], undefined);
    check([NAME, ["job", "a"], ["job", "a"]], undefined);
    check([NAME, NAME], undefined);
    check([NAME, ["__schema__", "other"]], undefined);
    check([NAME, ["greptime_value", "1"]], undefined);
    check([["__name__", "no/table"]], undefined);
    check([NAME, ["text", "x".repeat(20_000)]], undefined);
    check([NAME, ["n".repeat(200), "a"]], undefined);
  });

  test("cut anywhere are not usual, or fewer", () => {
    const whole = bytesOf([NAME, ["job", "a"]]);
    for (let length = 1; length < whole.length; length++) {
      expect(read(new PlainLabels(OPTIONS), whole.slice(0, length)) ?? "up{}").toBe("up{}");
    }
  });

  test("of one kind share a shape, and kinds are bounded", () => {
    const plain = new PlainLabels(OPTIONS);
    const shapeOf = (labels: Labels): unknown => {
      const bytes = bytesOf(labels);
      return plain.shapeOf(bytes, new DataView(bytes.buffer), 0, bytes.length);
    };
    expect(shapeOf([NAME, ["job", "a"]])).toBe(shapeOf([NAME, ["job", "b"]]));
    expect(shapeOf([NAME, ["job", "a"]])).not.toBe(
      shapeOf([
        ["__name__", "down"],
        ["job", "a"],
      ]),
    );
    for (let i = 0; i < LABEL_NODES_MAX; i++) shapeOf([NAME, [`label_${i}`, "a"]]);
    expect(shapeOf([NAME, ["another", "a"]])).toBeUndefined();
    expect(shapeOf([NAME, ["job", "c"]])).toEqual({ table: "up", names: ["job"] });
    plain.clear();
    expect(shapeOf([NAME, ["another", "a"]])).toEqual({ table: "up", names: ["another"] });
  });
});
