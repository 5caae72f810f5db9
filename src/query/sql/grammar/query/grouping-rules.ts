/**
 * GROUP BY, with the forms that group several times:
 *
 *   groupBy ::= GROUP BY ALL | GROUP BY item, …
 *   item    ::= element | ROLLUP (element, …) | CUBE (element, …) | GROUPING SETS (item, …)
 *   element ::= expression | ( [expression, …] )
 *
 * Each item stands for a list of grouping sets, and several items for all their combinations.
 */
import type { IToken } from "chevrotain";
import { GROUPING_SET_KEYS_MAX, GROUPING_SETS_MAX } from "../../../../base/limits.ts";
import type { Expression, Select } from "../../syntax/ast.ts";
import type { Rule } from "../base/base-rules.ts";
import { FromRules } from "./from-rules.ts";
import { Comma, infixPowerOf, K, LeftParen, RightParen } from "../../tokens/token.ts";

/** Lists of keys, each of which rows are grouped by once. */
type Sets = readonly (readonly Expression[])[];

/** What GROUP BY says. */
export type Grouping = Pick<Select, "groupBy" | "groupAll" | "groupingSets">;

/** All prefixes of a list of elements, the longest first. */
function rollup(elements: Sets): Sets {
  return Array.from({ length: elements.length + 1 }, (_, i) => elements.slice(0, elements.length - i).flat());
}

/** All subsets of a list of elements, in the order of the standard. */
function cube(elements: Sets): Sets {
  const [first, ...rest] = elements;
  if (first === undefined) return [[]];
  const others = cube(rest);
  return [...others.map((other) => [...first, ...other]), ...others];
}

/** Keys of all sets together. */
function keyCount(sets: Sets): number {
  return sets.reduce((sum, set) => sum + set.length, 0);
}

/** Keys of all prefixes of a list of elements together. */
function rollupKeyCount(elements: Sets): number {
  return elements.reduce((sum, element, i) => sum + element.length * (elements.length - i), 0);
}

/** Each set with each added one behind it; takes the sets. */
function product(sets: Expression[][], added: Sets): Expression[][] {
  const [only] = added;
  // What most are, item after item: copies of what came before would make a long list quadratic.
  if (only === undefined || added.length > 1) return sets.flatMap((left) => added.map((right) => [...left, ...right]));
  if (only.length > 0) for (const set of sets) for (const key of only) set.push(key);
  return sets;
}

/** Each key once, and the sets as positions in the keys. */
function numbered(sets: Sets): Grouping {
  const groupBy = [...new Set(sets.flat())];
  const positions = new Map(groupBy.map((key, i) => [key, i] as const));
  return { groupBy, groupingSets: sets.map((set) => [...new Set(set.map((key) => positions.get(key) ?? -1))]) };
}

/** GROUP BY. */
export abstract class GroupingRules extends FromRules {
  protected readonly groupByClause: Rule<[], Grouping> = this.rule("groupByClause", () => {
    let sets: Expression[][] = [[]];
    let keys = 0;
    let isPlain = true;
    this.words(K.GROUP, K.BY);
    const isAll = this.has(K.ALL);
    if (isAll && !this.RECORDING_PHASE) return { groupBy: [], groupAll: true };
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      ERR_MSG: "an expression",
      DEF: () => {
        const start = this.LA(1);
        const added = this.SUBRULE(this.groupingItem);
        this.ACTION(() => {
          isPlain &&= added.length === 1 && (added[0]?.length ?? 0) > 0;
          this.checkCount(sets.length * added.length, start);
          keys = added.length * keys + sets.length * keyCount(added);
          this.checkKeys(keys, start);
          sets = product(sets, added);
        });
      },
    });
    return this.ACTION(() => (isPlain ? { groupBy: sets[0] ?? [] } : numbered(sets)));
  });

  private checkCount(count: number, token: IToken): void {
    if (count > GROUPING_SETS_MAX) this.fail(`GROUP BY stands for ${count} grouping sets; there may be ${GROUPING_SETS_MAX}`, token);
  }

  private checkKeys(count: number, token: IToken): void {
    if (count <= GROUPING_SET_KEYS_MAX) return;
    this.fail(`the grouping sets of GROUP BY have ${count} keys in all; they may have ${GROUPING_SET_KEYS_MAX}`, token);
  }

  private readonly groupingItem: Rule<[], Sets> = this.rule("groupingItem", () => {
    const start = this.LA(1);
    this.ACTION(() => this.enter(start));
    const sets = this.choose<Sets>({
      ERR_MSG: "an expression",
      DEF: [
        {
          GATE: () => this.LA(2).tokenType === LeftParen,
          ALT: () => {
            const token = this.OR2([{ ALT: () => this.CONSUME(K.ROLLUP) }, { ALT: () => this.CONSUME(K.CUBE) }]);
            const elements = this.SUBRULE(this.groupingElements);
            return this.ACTION(() => {
              const isCube = token.tokenType === K.CUBE;
              this.checkCount(isCube ? 2 ** elements.length : elements.length + 1, token);
              this.checkKeys(isCube ? (2 ** elements.length / 2) * keyCount(elements) : rollupKeyCount(elements), token);
              return isCube ? cube(elements) : rollup(elements);
            });
          },
          IGNORE_AMBIGUITIES: true,
        },
        {
          GATE: () => this.LA(2).tokenType === K.SETS,
          ALT: () => this.SUBRULE(this.groupingSets),
          IGNORE_AMBIGUITIES: true,
        },
        { ALT: () => [this.SUBRULE(this.groupingElement)] },
      ],
    });
    this.ACTION(() => this.leave());
    return sets;
  });

  private readonly groupingSets: Rule<[], Sets> = this.rule("groupingSets", () => {
    const sets: (readonly Expression[])[] = [];
    let keys = 0;
    this.words(K.GROUPING, K.SETS, LeftParen);
    this.AT_LEAST_ONE_SEP({
      SEP: Comma,
      ERR_MSG: "a grouping set",
      DEF: () => {
        const start = this.LA(1);
        const added = this.SUBRULE(this.groupingItem);
        this.ACTION(() => {
          this.checkCount(sets.length + added.length, start);
          this.checkKeys((keys += keyCount(added)), start);
          sets.push(...added);
        });
      },
    });
    this.CONSUME(RightParen);
    return sets;
  });

  private readonly groupingElements: Rule<[], Sets> = this.rule("groupingElements", () => {
    this.CONSUME(LeftParen);
    const elements = this.list("an expression", () => this.SUBRULE(this.groupingElement));
    this.CONSUME(RightParen);
    return elements;
  });

  /** `a + 1`, `(a, b)`, `()`. */
  private readonly groupingElement: Rule<[], readonly Expression[]> = this.rule("groupingElement", () =>
    this.choose<readonly Expression[]>({
      ERR_MSG: "an expression",
      DEF: [
        {
          GATE: () => this.isList(),
          ALT: () => {
            this.CONSUME(LeftParen);
            const keys = this.OPTION(() => this.SUBRULE(this.expressionList)) ?? [];
            this.CONSUME(RightParen);
            return keys;
          },
          IGNORE_AMBIGUITIES: true,
        },
        { ALT: () => [this.SUBRULE(this.expression)] },
      ],
    }),
  );

  /** Whether the parenthesis that comes next holds keys, and is not the beginning of an expression. */
  private isList(): boolean {
    if (this.LA(1).tokenType !== LeftParen || this.beginsQuery(2)) return false;
    const after = this.LA(this.closing(1) + 1);
    return after.tokenType !== K.NOT && infixPowerOf(after.tokenTypeIdx) === 0;
  }
}
