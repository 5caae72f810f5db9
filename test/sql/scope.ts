/** What names stand for while a statement is made up. */
import type { Choices } from "./choices.ts";
import type { Unit } from "./tables.ts";
import { type Kind, plain, type Term } from "./term.ts";

/** A column that can be named. */
export interface Named {
  readonly text: string;
  /** undefined: see `Column`. */
  readonly kind: Kind | undefined;
}

/** One relation of a FROM. */
export interface Source {
  readonly columns: readonly Named[];
  /** Columns that together no two rows share; undefined when there are none. */
  readonly key: readonly string[] | undefined;
}

/** Makers of pieces that hold each other: each file knows the others by this. */
export interface Grammar {
  expression(scope: Scope, kind: Kind): Term;
  condition(scope: Scope): Term;
  /** A query that gives one value; undefined where queries nest too deep. */
  scalarQuery(scope: Scope, kind: Kind): Term | undefined;
  /** EXISTS, IN, ANY, ALL. */
  subQueryCondition(scope: Scope): Term;
}

/** Where an expression stands. */
export interface Scope {
  readonly make: Grammar;
  readonly choices: Choices;
  readonly unit: Unit;
  readonly sources: readonly Source[];
  /** Of the queries around. */
  readonly outer: readonly Source[];
  /** How deep expressions and queries may still nest. */
  readonly depth: number;
}

/** The scope one level deeper. */
export function deeper(scope: Scope): Scope {
  return { ...scope, depth: scope.depth - 1 };
}

/** Columns of a kind that can be named, those of the nearest query first. */
export function columnsOf(scope: Scope, test: (column: Named) => boolean): readonly Named[] {
  return [...scope.sources, ...scope.outer].flatMap(({ columns }) => columns).filter(test);
}

/** A column of the kind, if there is one. */
export function columnOf(scope: Scope, kind: Kind): Term | undefined {
  const found = columnsOf(scope, (column) => column.kind === kind);
  return found.length === 0 ? undefined : plain(scope.choices.pick(found).text);
}
