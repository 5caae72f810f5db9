/**
 * Things by some of the labels of series, found without a text of them.
 *
 * Series of one metric have the same names of labels, so which labels count is told once for all of that shape; then a tree is walked, a
 * level a label, from value to value. A level knows the value that was asked for last, as neighbours often have the same. Where a branch
 * holds one set only, it ends, and the rest is compared:
 *
 *     {job, host}   job="a" ─► host="1" ─► thing            ns a series of 8 labels (Bun 1.4.5), texts in a map → this:
 *                           └► host="2" ─► thing              by (handler): 278 → 93        all but the name: 1,500 → 550
 *                   job="b" ─► thing of {job="b", host="7"}
 */
import type { Labels } from "./series-source.ts";

/** Which labels count: those of the names, or all others. */
export interface LabelChoice {
  readonly names: ReadonlySet<string>;
  readonly areKept: boolean;
}

/** All labels count. */
export const ALL_LABELS: LabelChoice = { names: new Set(), areKept: false };

/** Series with the same names of labels. */
interface Shape<T> {
  readonly names: readonly string[];
  /** Places of the labels that count. */
  readonly places: readonly number[];
  readonly root: Level<T>;
}

/** A value of a label: the level behind it, or the end. */
class Level<T> {
  /** By value; undefined at an end. */
  children: Map<string, Level<T>> | undefined;
  lastValue: string | undefined;
  lastChild: Level<T> | undefined;
  /** Of an end: the labels that it was made for, where they lie in them, and the thing. */
  labels: Labels;
  places: readonly number[];
  thing: T | undefined;

  constructor(labels: Labels, places: readonly number[], thing: T | undefined) {
    this.children = undefined;
    this.lastValue = undefined;
    this.lastChild = undefined;
    this.labels = labels;
    this.places = places;
    this.thing = thing;
  }

  put(value: string, child: Level<T>): void {
    this.children ??= new Map();
    this.children.set(value, child);
    this.lastValue = value;
    this.lastChild = child;
  }

  at(value: string): Level<T> | undefined {
    if (value === this.lastValue) return this.lastChild;
    const child = this.children?.get(value);
    if (child !== undefined) {
      this.lastValue = value;
      this.lastChild = child;
    }
    return child;
  }
}

/** See the file header. */
export class ByLabels<T extends object> {
  /** In the order in which they were made. */
  readonly all: T[] = [];
  private readonly choice: LabelChoice;
  private readonly shapes = new Map<string, Shape<T>>();
  private readonly roots = new Map<string, Level<T>>();
  private last: Shape<T> | undefined;

  constructor(choice: LabelChoice) {
    this.choice = choice;
  }

  /** Undefined: there is none. */
  get(labels: Labels): T | undefined {
    const { root, places } = this.shapeOf(labels);
    let level = root;
    for (let depth = 0; depth < places.length; depth++) {
      const child = level.at(valueAt(labels, places, depth));
      if (child === undefined) return undefined;
      if (child.children === undefined) return areEqual(child, labels, places, depth + 1) ? child.thing : undefined;
      level = child;
    }
    return level.thing;
  }

  /** The thing of the labels, made when there is none. */
  getOrMake(labels: Labels, make: () => T): T {
    const { root, places } = this.shapeOf(labels);
    let level = root;
    for (let depth = 0; depth < places.length; depth++) {
      const value = valueAt(labels, places, depth);
      const child = level.at(value);
      if (child === undefined) {
        const thing = this.made(make);
        level.put(value, new Level(labels, places, thing));
        return thing;
      }
      if (child.children === undefined) {
        if (child.thing !== undefined && areEqual(child, labels, places, depth + 1)) return child.thing;
        // Two sets share the way up to here: the one that ended goes one further.
        const further = new Level<T>(labels, places, undefined);
        further.put(valueAt(child.labels, child.places, depth + 1), child);
        level.put(value, further);
        level = further;
      } else level = child;
    }
    level.thing ??= this.made(make);
    return level.thing;
  }

  private made(make: () => T): T {
    const thing = make();
    this.all.push(thing);
    return thing;
  }

  private shapeOf(labels: Labels): Shape<T> {
    const { last } = this;
    if (last !== undefined && hasNames(labels, last.names)) return last;
    const names = labels.map(([name]) => name);
    const key = keyOf(names);
    let shape = this.shapes.get(key);
    if (shape === undefined) {
      const places = [...names.keys()].filter((place) => this.choice.names.has(names[place] ?? "") === this.choice.areKept);
      const kept = keyOf(places.map((place) => names[place] ?? ""));
      const root = this.roots.get(kept) ?? new Level<T>(labels, places, undefined);
      this.roots.set(kept, root);
      shape = { names, places, root };
      this.shapes.set(key, shape);
    }
    this.last = shape;
    return shape;
  }
}

function keyOf(names: readonly string[]): string {
  return names.map((name) => `${name.length}:${name}`).join("");
}

function hasNames(labels: Labels, names: readonly string[]): boolean {
  if (labels.length !== names.length) return false;
  for (let at = 0; at < names.length; at++) if (labels[at]?.[0] !== names[at]) return false;
  return true;
}

function valueAt(labels: Labels, places: readonly number[], depth: number): string {
  return labels[places[depth] as number]?.[1] ?? "";
}

function areEqual<T>(end: Level<T>, labels: Labels, places: readonly number[], from: number): boolean {
  for (let depth = from; depth < places.length; depth++)
    if (valueAt(end.labels, end.places, depth) !== valueAt(labels, places, depth)) return false;
  return true;
}
