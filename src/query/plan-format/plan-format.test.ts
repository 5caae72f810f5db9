/** The bytes of plans: values come back to the bit; what is no plan is refused with what is wrong and where. */
import { describe, expect, test } from "bun:test";
import { thrownBy } from "../../../test/support/failure-of.ts";
import { DbError } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type PlanNames, readBytes } from "./plan-reader.ts";
import { PlanWriter } from "./plan-writer.ts";
import { absent, bool, kinds, list, once, oneOf, optional, plain, record, type Shape, text, whole } from "./shape.ts";
import { PLAN_DEPTH_MAX, PLAN_VALUES_MAX, type PlainValue } from "./tags.ts";

const NAMES: PlanNames = {
  table: () => {
    throw new Error("no table");
  },
};

function written<T>(shape: Shape<T>, value: T): Uint8Array<ArrayBuffer> {
  const to = new PlanWriter();
  shape.write(value, to);
  return to.finish();
}

const read = <T>(shape: Shape<T>, bytes: Uint8Array, names: PlanNames = NAMES): T => readBytes(bytes, names, shape.read);

/** The same bytes with a checksum that fits what was changed in them. */
function resealed(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(copy.length - 4, crc32(copy.subarray(0, -4)), true);
  return copy;
}

describe("values come back as they were", () => {
  const values: Readonly<Record<string, PlainValue>> = {
    null: undefined,
    booleans: [true, false],
    "whole numbers": [0, 1, -1, 127, 128, -129, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    "other numbers": [-0, 0.1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, 5e-324, 1e308],
    "wide numbers": [0n, -1n, 255n, 256n, -256n, 2n ** 63n - 1n, -(2n ** 63n), 10n ** 38n - 1n, -(10n ** 38n)],
    texts: ["", "a", "ü€😀", "a\0b", "\ud800", "x".repeat(70_000)],
    bytes: new Uint8Array([0, 255, 7]),
    arrays: [
      new Int8Array([-1]),
      new Int16Array([-300]),
      new Uint16Array([65535]),
      new Int32Array([-(2 ** 31)]),
      new Uint32Array([2 ** 32 - 1]),
      new Float32Array([0.5]),
      new Float64Array([0.1, Number.POSITIVE_INFINITY]),
      new BigInt64Array([-(2n ** 63n)]),
      new BigUint64Array([2n ** 64n - 1n]),
    ],
    nested: { a: [{ b: { c: [] } }], "": "", toString: 1 },
  };
  for (const [name, value] of Object.entries(values)) {
    test(name, () => {
      const back = read(plain, written(plain, value));
      expect(back).toEqual(value);
      expect(written(plain, back)).toEqual(written(plain, value));
    });
  }

  test("a view of a larger buffer gives its own elements", () => {
    expect(read(plain, written(plain, new Float64Array([1, 2, 3, 4]).subarray(1, 3)))).toEqual(new Float64Array([2, 3]));
  });
});

interface Tree {
  readonly kind: "leaf" | "pair";
  readonly name?: string;
  readonly note: string | undefined;
}

describe("shapes", () => {
  const tree: Shape<Tree> = record<Tree>({ kind: oneOf("leaf", "pair"), name: absent(text), note: optional(text) });

  test("a field without a value is there, or is not, as its type says", () => {
    const back = read(tree, written(tree, { kind: "leaf", note: undefined }));
    expect(Object.keys(back).sort()).toEqual(["kind", "note"]);
    expect(read(tree, written(tree, { kind: "leaf", name: "n", note: "m" }))).toEqual({ kind: "leaf", name: "n", note: "m" });
  });

  test("a thing that stands in several places is written once, and is one thing again", () => {
    const one = once<Tree>(() => tree);
    const leaf: Tree = { kind: "leaf", note: "a long text ".repeat(10) };
    const bytes = written(list(one), [leaf, leaf, { ...leaf }]);
    const [a, b, c] = read(list(one), bytes);
    expect(a).toBe(b as Tree);
    expect(a).toEqual(c as Tree);
    expect(a).not.toBe(c as Tree);
    expect(bytes.length).toBeLessThan(300);
  });

  test("what a reference names must be of the kind that is wanted", () => {
    const [one, other] = [once<Tree>(() => tree), once<Tree>(() => tree)];
    const leaf: Tree = { kind: "leaf", note: undefined };
    const bytes = written(list(one), [leaf, leaf]);
    const both: Shape<Tree> = {
      write: one.write,
      read: (from) => (from.expect(10, "a list"), from.length(), one.read(from), other.read(from)),
    };
    expect(thrownBy(() => read(both, bytes)).message).toContain("nothing of this kind has number 0");
  });

  const kind = kinds<{ readonly kind: "a"; readonly x: number } | { readonly kind: "b"; readonly y: boolean }>({
    a: { x: whole(0, 9) },
    b: { y: bool },
  });
  const wrong: readonly (readonly [string, PlainValue, string])[] = [
    ["another kind of value", 1, "a record is wanted, and tag 3 is there"],
    ["no kind", { x: 1 }, "a record does not begin with its kind"],
  ];
  for (const [name, value, message] of wrong) {
    test(`refuse ${name}`, () => expect(thrownBy(() => read(kind, written(plain, value))).message).toContain(message));
  }
  test("refuse a field that is missing, not known, or out of its range", () => {
    const given = (fields: Readonly<Record<string, PlainValue>>): Uint8Array => {
      const to = new PlanWriter();
      to.tag(11);
      to.count(1 + Object.keys(fields).length);
      to.word("kind");
      to.tag(12);
      to.word("a");
      for (const [key, value] of Object.entries(fields)) {
        to.word(key);
        to.plain(value);
      }
      return to.finish();
    };
    expect(read(kind, given({ x: 1 }))).toEqual({ kind: "a", x: 1 });
    expect(thrownBy(() => read(kind, given({}))).message).toContain("a record lacks field x");
    expect(thrownBy(() => read(kind, given({ x: 1, z: 2 }))).message).toContain('a record has field "z"');
    expect(thrownBy(() => read(kind, given({ x: 10 }))).message).toContain("a whole number from 0 to 9 is wanted");
  });

  test("fields may come in another order, each once", () => {
    const given = (names: readonly string[]): Uint8Array => {
      const to = new PlanWriter();
      to.tag(11);
      to.count(names.length);
      for (const name of names) {
        to.word(name);
        to.plain(name === "kind" ? "leaf" : name);
      }
      return to.finish();
    };
    const tree: Shape<Tree> = record<Tree>({
      kind: text as unknown as Shape<Tree["kind"]>,
      name: absent(text),
      note: optional(text),
    });
    expect(read(tree, given(["note", "name", "kind"]))).toEqual({ kind: "leaf", name: "name", note: "note" });
    expect(read(tree, given(["name", "kind"]))).toEqual({ kind: "leaf", name: "name", note: undefined });
    for (const names of [
      ["kind", "note", "note"],
      ["note", "kind", "note"],
      ["kind", "kind"],
      ["kind", "toString"],
    ]) {
      expect(thrownBy(() => read(tree, given(names))).message).toContain(`a record has field "${names.at(-1)}"`);
    }
    expect(thrownBy(() => read(tree, given(["note"]))).message).toContain("a record lacks field kind");
  });
});

describe("what is no plan", () => {
  const good = written(plain, { a: [1, "two", 3n, new Float64Array([4])], b: { c: undefined } });

  test("a newer version is refused by its number", () => {
    const newer = good.slice();
    newer[2] = 3;
    const error = thrownBy(() => read(plain, resealed(newer)));
    expect(error.code).toBe(StatusCode.Unsupported);
    expect(error.message).toBe(
      "cannot read a plan: it is of version 3 of the format, and this server reads versions 1 to 2; update this server",
    );
  });

  test("other bytes are refused", () => {
    expect(thrownBy(() => read(plain, new Uint8Array())).message).toContain("it ends within its first bytes; it has 0");
    expect(thrownBy(() => read(plain, new TextEncoder().encode("SELECT 1"))).message).toContain("it does not begin as a plan does");
    const [first = 0] = good;
    expect(thrownBy(() => read(plain, Uint8Array.of(first ^ 1, ...good.subarray(1)))).message).toContain("does not begin");
  });

  test("each damaged bit is found", () => {
    for (let bit = 24; bit < good.length * 8; bit++) {
      const damaged = good.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(thrownBy(() => read(plain, damaged)).message).toContain("its checksum does not match");
    }
  });

  test("bytes that were made to deceive give an error of the world, or a value, and take no memory", () => {
    let state = 12345;
    const random = (): number => (state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff);
    for (let round = 0; round < 20_000; round++) {
      const damaged = good.slice();
      for (let i = 0; i < 1 + (round % 4); i++) damaged[3 + (random() % (good.length - 7))] = random() >> 8;
      try {
        read(plain, resealed(damaged.subarray(0, 7 + (random() % (good.length - 6)))));
      } catch (error) {
        expect(error).toBeInstanceOf(DbError);
      }
    }
  });

  test("lengths are compared with what is left before memory is taken", () => {
    for (const tag of [6, 7, 8, 10, 11]) {
      const to = new PlanWriter();
      to.tag(tag);
      to.count(2 ** 40);
      expect(thrownBy(() => read(plain, to.finish())).code).toBe(StatusCode.InvalidArguments);
    }
  });

  test("depth is bounded where plans are written and where they are read", () => {
    const deep = (levels: number): PlainValue => {
      let value: PlainValue = 1;
      for (let i = 0; i < levels; i++) value = [value];
      return value;
    };
    expect(read(plain, written(plain, deep(PLAN_DEPTH_MAX)))).toEqual(deep(PLAN_DEPTH_MAX));
    expect(thrownBy(() => written(plain, deep(PLAN_DEPTH_MAX + 1))).message).toContain(`nests deeper than ${PLAN_DEPTH_MAX} levels`);
    const to = new PlanWriter();
    for (let i = 0; i <= PLAN_DEPTH_MAX; i++) {
      to.tag(10);
      to.count(1);
    }
    to.tag(0);
    expect(thrownBy(() => read(plain, to.finish())).message).toContain(`it nests deeper than ${PLAN_DEPTH_MAX} levels`);
  });

  test("references that multiply are counted as what they stand for", () => {
    type Node = readonly Node[];
    const node: Shape<Node> = once(() => list<Node>(node));
    let value: Node = [];
    for (let i = 0; i < 40; i++) value = [value, value];
    expect(thrownBy(() => read(node, written(node, value))).message).toContain(`it has more than ${PLAN_VALUES_MAX} values`);
  });

  test("memory is counted before it is taken", () => {
    let reserved = 0;
    const bytes = written(
      plain,
      Array.from({ length: 100_000 }, (_, i) => i),
    );
    read(plain, bytes, { ...NAMES, reserve: (more) => void (reserved += more) });
    expect(reserved).toBeGreaterThan(100_000 * 32);
    expect(() =>
      read(plain, bytes, {
        ...NAMES,
        reserve: () => {
          throw new DbError(StatusCode.RuntimeResourcesExhausted, "no memory");
        },
      }),
    ).toThrow("no memory");
  });
});
