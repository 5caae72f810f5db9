/**
 * Shapes: what a value of a plan is made of, told once. A shape writes and reads its values, and finds the operators and expressions that
 * lie in them.
 */
import { assert } from "../../base/assert.ts";
import type { PlanReader } from "./plan-reader.ts";
import type { PlanWriter } from "./plan-writer.ts";
import { type PlainValue, TAG } from "./tags.ts";

/** What takes the place of the operators and expressions in a value: for each, what it is given and gives is one. */
export interface Changes {
  readonly plan: (plan: object) => object;
  readonly expression: (expression: object) => object;
}

/** Is shown an expression. */
export type Visit = (expression: object) => void;

/** See the file header. */
export interface Shape<T> {
  write(this: void, value: T, to: PlanWriter): void;
  /** @throws DbError InvalidArguments for what is no such value */
  read(this: void, from: PlanReader): T;
  /** The same value with others in the place of its operators and expressions. Absent: there are none. */
  map?(this: void, value: T, changes: Changes): T;
  /** Shows the expressions in a value that `map` changes. Absent: there are none. */
  visit?(this: void, value: T, visit: Visit): void;
  /** Of a field that may be undefined: then it is not written, and is undefined when it is read, or not there. */
  readonly missing?: "undefined" | "absent";
  /** Of a field that follows from the others: it is never written. Undefined: it is not there. */
  derive?(this: void, record: Readonly<Record<string, unknown>>): T | undefined;
}

/** One shape for each field. */
export type Fields<T> = { readonly [K in keyof T]-?: Shape<T[K]> };

type AnyFields = Readonly<Record<string, Shape<unknown>>>;
type AnyField = readonly [name: string, shape: Shape<unknown>];
type AnyRecord = Readonly<Record<string, unknown>>;

/** Texts. */
export const text: Shape<string> = {
  write: (value, to) => to.text(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return typeof value === "string" ? value : from.fail("a text is wanted");
  },
};

/** Booleans. */
export const bool: Shape<boolean> = {
  write: (value, to) => to.tag(value ? TAG.true : TAG.false),
  read: (from) => {
    const value = from.scalar(from.tag());
    return typeof value === "boolean" ? value : from.fail("true or false is wanted");
  },
};

/** Whole numbers in `[min, max]`. */
export function whole(min: number = Number.MIN_SAFE_INTEGER, max: number = Number.MAX_SAFE_INTEGER): Shape<number> {
  return {
    write: (value, to) => to.number(value),
    read: (from) => {
      const value = from.scalar(from.tag());
      const isOne = typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
      return isOne ? value : from.fail(`a whole number from ${min} to ${max} is wanted`);
    },
  };
}

/** Any numbers. */
export const float: Shape<number> = {
  write: (value, to) => to.number(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return typeof value === "number" ? value : from.fail("a number is wanted");
  },
};

/** Whole numbers of any size. */
export const bigint: Shape<bigint> = {
  write: (value, to) => to.bigint(value),
  read: (from) => {
    const value = from.scalar(from.tag());
    return typeof value === "bigint" ? value : from.fail("a wide number is wanted");
  },
};

/** Plain data. */
export const plain: Shape<PlainValue> = { write: (value, to) => to.plain(value), read: (from) => from.plain() };

/** One of some constants: texts as words. */
export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Shape<T> {
  return {
    write: (value, to) => {
      if (typeof value !== "string") return to.plain(value);
      to.tag(TAG.word);
      to.word(value);
    },
    read: (from) => {
      const tag = from.tag();
      const found = tag === TAG.word ? from.word() : from.scalar(tag);
      return values.find((value) => value === found) ?? from.fail(`one of ${values.join(", ")} is wanted`);
    },
  };
}

function field<T>(shape: Shape<T>, missing: "undefined" | "absent"): Shape<T> {
  return { ...shape, missing };
}

/** A field that is undefined where there is nothing. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return field(shape as Shape<T | undefined>, "undefined"); // A field that is undefined is neither written nor read.
}

/** A field that is not there where there is nothing. */
export function absent<T>(shape: Shape<T>): Shape<T> {
  return field(shape, "absent");
}

/** A field that follows from the others. */
export function derived<R, T>(derive: (record: R) => T | undefined): Shape<T> {
  const never = (): never => {
    throw new Error("a field that follows from others is not written");
  };
  return { write: never, read: never, missing: "undefined", derive: (made) => derive(made as R) }; // The others were read before.
}

/** Lists. */
export function list<T>(of: Shape<T>): Shape<readonly T[]> {
  return {
    write: (value, to) => {
      to.tag(TAG.list);
      to.count(value.length);
      for (const each of value) of.write(each, to);
    },
    read: (from) => {
      from.expect(TAG.list, "a list");
      const length = from.length();
      const made: T[] = [];
      for (let i = 0; i < length; i++) made.push(of.read(from));
      return made;
    },
    ...(of.map !== undefined && { map: (value: readonly T[], changes: Changes) => value.map((each) => of.map?.(each, changes) ?? each) }),
    ...(of.visit !== undefined && {
      visit: (value: readonly T[], visit: Visit) => {
        for (const each of value) of.visit?.(each, visit);
      },
    }),
  };
}

/** A record, read from where its number of fields stands. */
export interface RecordShape<T> extends Shape<T> {
  /** @param made the fields that were read already */
  readRest(this: void, from: PlanReader, count: number, made: Record<string, unknown>): T;
}

/** Records. */
export function record<T extends object>(fields: Fields<T>): RecordShape<T> {
  return recordOf(fields as unknown as AnyFields) as unknown as RecordShape<T>; // By its names and shapes it is one.
}

/** Reads the fields of a record into one that may have some of them already. @param entries those that are written */
function restOf(all: readonly AnyField[], entries: readonly AnyField[]): RecordShape<AnyRecord>["readRest"] {
  const following = all.filter(([, { derive }]) => derive !== undefined);
  const places = new Map(entries.map(([name], place) => [name, place]));
  assert(entries.length < 32, "a bit for each field of a record");
  const everything = 2 ** entries.length - 1;
  /** Sees to the fields that did not come. @param come a bit for each that did, by its place */
  const without = (come: number, from: PlanReader, made: Record<string, unknown>): void => {
    for (let place = 0; place < entries.length; place++) {
      const [name, { missing }] = entries[place] as AnyField;
      if ((come & (1 << place)) !== 0 || missing === "absent") continue;
      if (missing === undefined) from.fail(`a record lacks field ${name}`);
      made[name] = undefined;
    }
  };
  return (from, count, made) => {
    let come = 0;
    let next = 0;
    for (const name in made) {
      const place = places.get(name) ?? from.fail(`a record has field ${name}`);
      come |= 1 << place;
      next = place + 1;
    }
    for (let i = 0; i < count; i++) {
      const name = from.word();
      // They come in the order in which they are told, unless another version wrote them.
      const place = entries[next]?.[0] === name ? next : places.get(name);
      const found = place === undefined || (come & (1 << place)) !== 0 ? undefined : entries[place];
      if (place === undefined || found === undefined) return from.fail(`a record has field ${JSON.stringify(name.slice(0, 80))}`);
      made[name] = found[1].read(from);
      come |= 1 << place;
      next = place + 1;
    }
    if (come >>> 0 !== everything) without(come, from, made);
    for (const [name, { derive }] of following) {
      const follows = derive?.(made);
      if (follows !== undefined) made[name] = follows;
    }
    return made;
  };
}

function recordOf(fields: AnyFields): RecordShape<AnyRecord> {
  const all = Object.entries(fields);
  const entries = all.filter(([, { derive }]) => derive === undefined);
  const changing = entries.filter(([, { map }]) => map !== undefined);
  const showing = entries.filter(([, { visit }]) => visit !== undefined);
  const readRest = restOf(all, entries);
  return {
    write: (value, to) => {
      let count = 0;
      for (let i = 0; i < entries.length; i++) {
        const [name, { missing }] = entries[i] as AnyField;
        if (missing === undefined || value[name] !== undefined) count++;
      }
      to.tag(TAG.record);
      to.count(count);
      for (let i = 0; i < entries.length; i++) {
        const [name, shape] = entries[i] as AnyField;
        const own = value[name];
        if (shape.missing !== undefined && own === undefined) continue;
        to.word(name);
        shape.write(own, to);
      }
    },
    read: (from) => {
      from.expect(TAG.record, "a record");
      return readRest(from, from.length(2), {});
    },
    readRest,
    ...(changing.length > 0 && {
      map: (value: AnyRecord, changes: Changes) => {
        const made: Record<string, unknown> = { ...value };
        for (const [name, shape] of changing) {
          const own = made[name];
          if (own !== undefined) made[name] = shape.map?.(own, changes);
        }
        return made;
      },
    }),
    ...(showing.length > 0 && {
      visit: (value: AnyRecord, visit: Visit) => {
        for (const [name, shape] of showing) {
          const own = value[name];
          if (own !== undefined) shape.visit?.(own, visit);
        }
      },
    }),
  };
}

type CaseOf<T, K> = T extends { readonly kind: infer Own } ? (K extends Own ? T : never) : never;

/** The fields of each kind of a union, beside its kind. */
export type Cases<T extends { readonly kind: string }> = {
  readonly [K in T["kind"]]: Fields<Omit<CaseOf<T, K>, "kind">>;
};

/** Records that their field `kind` tells apart. */
export function kinds<T extends { readonly kind: string }>(cases: Cases<T>): Shape<T> {
  const given: Readonly<Record<string, AnyFields>> = cases;
  const shapes = new Map<string, RecordShape<AnyRecord>>();
  for (const [kind, fields] of Object.entries(given)) shapes.set(kind, recordOf({ kind: oneOf(kind) as Shape<unknown>, ...fields }));
  const all = [...shapes.values()];
  const { write, read, map, visit } = kindsOf((kind) => shapes.get(kind)) as unknown as Shape<T>; // Of each kind there is a shape.
  return {
    write,
    read,
    ...(all.some((shape) => shape.map !== undefined) && map !== undefined && { map }),
    ...(all.some((shape) => shape.visit !== undefined) && visit !== undefined && { visit }),
  };
}

/** The same over shapes that are looked up: each begins with its field `kind`. */
export function kindsOf<T extends { readonly kind?: unknown }>(shapeOf: (kind: string) => Shape<T> | undefined): Shape<T> {
  const known = ({ kind }: T): Shape<T> => {
    const shape = shapeOf(String(kind));
    if (shape === undefined) throw new Error(`a shape of kind ${String(kind)}`);
    return shape;
  };
  return {
    write: (value, to) => known(value).write(value, to),
    read: (from) => {
      from.expect(TAG.record, "a record");
      const count = from.length(2);
      if (count === 0 || from.word() !== "kind") return from.fail("a record does not begin with its kind");
      from.expect(TAG.word, "a kind");
      const kind = from.word();
      const shape = shapeOf(kind) as RecordShape<T> | undefined; // Only records are looked up.
      if (shape === undefined) return from.fail(`there is no kind ${JSON.stringify(kind.slice(0, 80))} here`);
      return shape.readRest(from, count - 1, { kind });
    },
    map: (value, changes) => known(value).map?.(value, changes) ?? value,
    visit: (value, visit) => known(value).visit?.(value, visit),
  };
}

/** Things that may stand in several places: written once, and one thing again when they are read. They may lie in each other. */
export function once<T extends object>(shape: () => Shape<T>): Shape<T> {
  let made: Shape<T> | undefined;
  const of = (): Shape<T> => (made ??= shape()); // Made when it is first used: shapes may lie in each other.
  const own: Shape<T> = {
    write: (value, to) => to.once(value, () => of().write(value, to)),
    read: (from) => from.once(own, () => of().read(from)),
  };
  return own;
}
