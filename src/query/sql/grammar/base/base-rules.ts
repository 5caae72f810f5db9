/**
 * What all rules of the grammar share: positions, failures, names, option lists and types. The grammar is a chain of classes, one file
 * a topic, since a chevrotain grammar is the methods of one parser object:
 *
 *   BaseRules ◄ OperandRules ◄ NestedRules ◄ WindowRules ◄ CallRules ◄ RangeRules ◄ ExpressionRules ◄ FromRules ◄ GroupingRules
 *             ◄ QueryRules ◄ TqlRules ◄ WriteRules ◄ ViewRules ◄ FlowRules ◄ CreateRules ◄ AlterRules ◄ ListRules ◄ ShowRules
 *             ◄ CopyRules ◄ SessionRules ◄ SqlParser
 *
 * Where a comment says "a part of" a rule, a plain method is meant that reads on in the rule that calls it: a rule costs about 0.15 µs
 * a call. Such methods must not use a numbered step (`OPTION2`, `SUBRULE9`) that their rule uses too.
 *
 * Rules run once without input when the parser is built, to record the grammar. Whatever would fail on the recorder's fake tokens
 * stands inside `ACTION`.
 */
import { EmbeddedActionsParser, type IOrAlt, type IToken, type ParserMethod, type TokenType } from "chevrotain";
import { type DataType, isNested } from "../../../../column/data-type.ts";
import type { ObjectName, Span } from "../../syntax/ast.ts";
import { type FinishedRules, type Marks, newMarks } from "./finished-rules.ts";
import { LateLookahead } from "./late-lookahead.ts";
import { nameOf, stringOf } from "../../tokens/lexer.ts";
import { expectedProvider, positionOf, quote, syntaxError, unsupported } from "../../tokens/syntax-error.ts";
import {
  Comma,
  Dot,
  Equal,
  K,
  Label,
  LeftBracket,
  LeftParen,
  Name,
  NumberText,
  Prefix,
  QuotedName,
  RightBracket,
  RightParen,
  StringText,
  VOCABULARY,
} from "../../tokens/token.ts";
import { isNumberedKind as numberedKindNamed } from "../../../postgres-types.ts";
import { isCatalogType, typeNamed } from "./type-name.ts";

/** A grammar rule: arguments are optional, since recording passes none. */
export type Rule<Args extends unknown[], Result> = ParserMethod<Args, Result>;

/** Alternatives with what to say when none fits. */
export interface Choice<Result> {
  readonly DEF: IOrAlt<Result>[];
  readonly ERR_MSG: string;
  /** Whether the first of several alternatives that fit is the one meant. */
  readonly IGNORE_AMBIGUITIES?: boolean;
}

/** Where a token begins. */
export function spanOf(token: IToken): Span {
  return { line: token.startLine ?? 1, column: token.startColumn ?? 1 };
}

/** Schemas that have types of PostgreSQL. */
const TYPE_SCHEMAS: ReadonlySet<string> = new Set(["pg_catalog", "information_schema"]);

/** Deepest type of lists in lists. Reason: later passes recurse. */
const LISTS_DEEP_MAX = 16;

const OPTION_VALUE = "an option value such as 'text', 10 or true";

/** Whether two words are `SIGNED INTEGER` or the like, of MySQL's casts. */
export function isSignedInteger(first: IToken, second: IToken): boolean {
  return /^(un)?signed$/i.test(first.image) && /^(int|integer|bigint)$/i.test(second.image);
}

/** Names, options and types, and the helpers of all rules. */
export abstract class BaseRules extends EmbeddedActionsParser {
  /** The text being parsed, for error positions. */
  protected text = "";
  /** What was finished of the statement before; undefined where it is read at once. */
  protected finished: FinishedRules | undefined;
  protected marks: Marks = newMarks();
  /** Index of the token that was read last; chevrotain's. */
  declare private currIdx: number;

  /** @param validate checks the grammar for ambiguities, which takes long: for a test */
  constructor(validate: boolean) {
    super(VOCABULARY, {
      maxLookahead: 1, // gates decide the few places that need more
      lookaheadStrategy: new LateLookahead({ maxLookahead: 1 }),
      skipValidations: !validate,
      errorMessageProvider: expectedProvider,
    });
  }

  /** `RULE` with the types of the field it is assigned to; one that was finished at this token gives what it gave (`finished-rules.ts`). */
  protected rule<Args extends unknown[], Result>(name: string, body: (...args: Args) => Result): Rule<Args, Result> {
    return this.RULE(name, (...args: Args): Result => {
      const { finished, currIdx: start } = this;
      if (finished === undefined) return body(...args);
      const part = finished.partAt(start, name, args);
      if (part === undefined) {
        const result = body(...args);
        finished.keep(start, { rule: name, args, result, end: this.currIdx, marks: { ...this.marks } });
        return result;
      }
      this.currIdx = part.end;
      Object.assign(this.marks, part.marks);
      return part.result as Result; // the rule of that name gave it
    });
  }

  /** `OR` whose alternatives all give a `Result`. */
  protected choose<Result>(choice: Choice<Result>): Result {
    return this.OR(choice);
  }

  /** What an alternative means, once its keyword is read. */
  protected choice<Meaning extends string>(_keyword: IToken, meaning: Meaning): Meaning {
    return meaning;
  }

  /** Reads words that stand together. */
  protected words(...words: readonly TokenType[]): void {
    for (const word of words) this.CONSUME(word);
  }

  /** Whether a word stands here, which is read then. A part of the rule that uses it, as its step of that number. */
  protected has(word: TokenType, step = 0): boolean {
    return this.option(step, () => this.consume(step, word)) !== undefined;
  }

  /** What an option or alternative reads that begins with `words`: those, then `rest`. */
  protected after<Result>(words: TokenType | readonly TokenType[], rest: () => Result): () => Result {
    return () => {
      if (Array.isArray(words)) this.words(...words);
      else this.CONSUME(words as TokenType);
      return rest();
    };
  }

  /** One or more with commas between them. */
  protected list<Item>(expected: string, item: () => Item): Item[] {
    const items: Item[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => items.push(item()), ERR_MSG: expected });
    return items;
  }

  /**
   * `item, …`, not empty; a comma may trail before `)` or `end`. A part of the rule that uses it, as its steps 20 and 21.
   *
   * @param item reads one, as that step
   */
  protected items<Item>(item: (step: 20 | 21) => Item, end: TokenType = RightParen): Item[] {
    const items = [item(20)];
    this.many(20, {
      GATE: () => {
        const { tokenType } = this.LA(2);
        return tokenType !== RightParen && tokenType !== end;
      },
      DEF: () => {
        this.consume(20, Comma);
        items.push(item(21));
      },
    });
    this.option(20, () => this.consume(21, Comma));
    return items;
  }

  /** What the word that stands here means. A part of the rule that uses it, as its steps of that number. */
  protected meaningOf<Meaning extends string>(
    expected: string,
    words: Readonly<Record<Meaning, TokenType | readonly TokenType[]>>,
    step = 0,
  ): Meaning {
    const alternatives: IOrAlt<Meaning>[] = [];
    for (const meaning in words)
      for (const word of [words[meaning]].flat())
        alternatives.push({
          ALT: () => {
            this.consume(step, word);
            return meaning;
          },
        });
    return this.or(step, { ERR_MSG: expected, DEF: alternatives });
  }

  /** Refuses what parses but makes no sense. @throws DbError InvalidSyntax */
  protected fail(why: string, token: IToken): never {
    throw syntaxError(why, positionOf(token, this.text));
  }

  /** Refuses a clause that was read before; `seen` are the words of those. @throws DbError InvalidSyntax */
  protected firstTime(word: string, token: IToken, seen: Set<string>): void {
    if (seen.has(word)) this.fail(`${word} is written twice`, token);
    seen.add(word);
  }

  /** Refuses a construct that is not served yet. @throws DbError Unsupported */
  protected refuse(construct: string, token: IToken): never {
    throw unsupported(construct, positionOf(token, this.text));
  }

  /** A name without qualification. */
  protected readonly identifier: Rule<[], string> = this.rule("identifier", () => nameOf(this.CONSUME(Name)));

  /** `a`, `b.a`, `c.b.a`. */
  protected readonly objectName: Rule<[], ObjectName> = this.rule("objectName", () => {
    const first = this.CONSUME(Name);
    const parts = [nameOf(first)];
    this.MANY(() => {
      this.CONSUME(Dot);
      parts.push(nameOf(this.CONSUME(Label)));
    });
    this.ACTION(() => {
      if (parts.length > 3) this.fail(`the name ${quote(parts.join("."))} has more than three parts`, first);
    });
    return parts;
  });

  protected readonly stringValue: Rule<[], string> = this.rule("stringValue", () => stringOf(this.CONSUME(StringText)));

  /** The name of a database, which may be a string: `CREATE DATABASE 'my-db'`. */
  protected readonly databaseName: Rule<[], string> = this.rule("databaseName", () =>
    this.OR({
      ERR_MSG: "a database name",
      DEF: [{ ALT: () => this.SUBRULE(this.identifier) }, { ALT: () => this.SUBRULE(this.stringValue) }],
    }),
  );

  /** IF NOT EXISTS, when it is there. */
  protected readonly ifNotExists: Rule<[], boolean> = this.rule("ifNotExists", () => {
    // A table may be called `if`.
    return (
      this.OPTION({
        GATE: () => this.LA(2).tokenType === K.NOT,
        DEF: this.after([K.IF, K.NOT, K.EXISTS], () => true),
      }) ?? false
    );
  });

  /** IF EXISTS, when it is there. */
  protected readonly ifExists: Rule<[], boolean> = this.rule("ifExists", () => {
    return (
      this.OPTION({
        GATE: () => this.LA(2).tokenType === K.EXISTS,
        DEF: this.after([K.IF, K.EXISTS], () => true),
      }) ?? false
    );
  });

  /** `( a, b )`, not empty. */
  protected readonly nameList: Rule<[], readonly string[]> = this.rule("nameList", () => {
    this.CONSUME(LeftParen);
    const names = this.items((step) => this.subrule(step, this.identifier));
    this.CONSUME(RightParen);
    return names;
  });

  /** `WITH ( key = value, … )`. */
  protected readonly withOptions: Rule<[], Readonly<Record<string, string>>> = this.rule("withOptions", () => {
    this.CONSUME(K.WITH);
    return this.SUBRULE(this.optionList);
  });

  /** `( key = value, … )`; a comma may trail. */
  protected readonly optionList: Rule<[], Readonly<Record<string, string>>> = this.rule("optionList", () => {
    this.CONSUME(LeftParen);
    const entries = this.OPTION(() => this.items((step) => this.subrule(step, this.optionEntry))) ?? [];
    this.CONSUME(RightParen);
    return this.ACTION(() => Object.fromEntries(entries));
  });

  /** `ttl = '7d'`, `'compaction.type' = twcs`, `a.b = 3`. */
  protected readonly optionEntry: Rule<[], readonly [string, string]> = this.rule("optionEntry", () => {
    const key = this.SUBRULE(this.optionKey);
    this.CONSUME(Equal);
    return [key, this.SUBRULE(this.optionValue)] as const;
  });

  /** `ttl`, `'compaction.type'`, `a.b`. */
  protected readonly optionKey: Rule<[], string> = this.rule("optionKey", () =>
    this.OR({
      ERR_MSG: "an option name",
      DEF: [
        { ALT: () => this.SUBRULE(this.stringValue) },
        {
          ALT: () => {
            const parts = [nameOf(this.CONSUME(Label))];
            this.MANY(() => {
              this.CONSUME(Dot);
              parts.push(nameOf(this.CONSUME2(Label)));
            });
            return parts.join(".");
          },
        },
      ],
    }),
  );

  protected readonly optionValue: Rule<[], string> = this.rule("optionValue", () =>
    this.OR({
      ERR_MSG: OPTION_VALUE,
      DEF: [
        { ALT: () => this.SUBRULE(this.stringValue) },
        { ALT: () => this.CONSUME(NumberText).image },
        {
          ALT: () => {
            const sign = this.CONSUME(Prefix);
            return sign.image + this.CONSUME2(NumberText).image;
          },
        },
        { ALT: () => nameOf(this.CONSUME(Label)) },
      ],
    }),
  );

  /** A type with its arguments: `TIMESTAMP(3)`, `INT UNSIGNED`, `DOUBLE PRECISION`, `DECIMAL(10, 2)`, `pg_catalog.text`. */
  protected readonly typeName: Rule<[], DataType> = this.rule("typeName", () => {
    let first = this.CONSUME(Name);
    // The types of PostgreSQL are those of its schemas.
    this.OPTION6({
      GATE: () => TYPE_SCHEMAS.has(nameOf(first)),
      DEF: () => {
        this.CONSUME(Dot);
        first = this.CONSUME3(Name);
      },
    });
    const args: number[] = [];
    const second = this.OPTION(() => this.OR([{ ALT: () => this.CONSUME(K.PRECISION) }, { ALT: () => this.CONSUME(K.VARYING) }]));
    this.OPTION2(() => {
      this.CONSUME(LeftParen);
      this.AT_LEAST_ONE_SEP({ SEP: Comma, DEF: () => args.push(Number(this.CONSUME(NumberText).image)) });
      this.CONSUME(RightParen);
    });
    const unsigned = this.has(K.UNSIGNED, 3);
    // `SIGNED INTEGER` of MySQL's casts.
    this.OPTION5({
      GATE: () => isSignedInteger(first, this.LA(1)),
      DEF: () => this.CONSUME2(Name),
    });
    this.OPTION4(() => {
      this.OR2([{ ALT: () => this.CONSUME(K.WITH) }, { ALT: () => this.CONSUME(K.WITHOUT) }]);
      this.words(K.TIME, K.ZONE);
    });
    let lists = 0;
    this.MANY({
      // `x::int[]` is a type, `x::text[1]` a subscript.
      GATE: () => this.LA(2).tokenType === RightBracket,
      DEF: () => {
        this.words(LeftBracket, RightBracket);
        lists++;
      },
    });
    return this.ACTION(() => {
      const isQuotedChar = first.image === '"char"';
      const isType = isQuotedChar || first.tokenType !== QuotedName || numberedKindNamed(nameOf(first));
      if (!isType) this.fail(`found ${quote(first.image)}, expected a type`, first);
      const name = isQuotedChar ? "char_of_catalog" : second === undefined ? nameOf(first) : `${nameOf(first)}_${nameOf(second)}`;
      let type = this.resolveType(name, args, unsigned, first);
      if (lists > LISTS_DEEP_MAX) this.fail(`a type nests lists deeper than ${LISTS_DEEP_MAX} levels`, first);
      for (; lists > 0; lists--) type = { kind: "list", element: type };
      return type;
    });
  });

  /** The type of a column of a table: not one of expressions alone. */
  protected readonly columnType: Rule<[], DataType> = this.rule("columnType", () => {
    const start = this.LA(1);
    const type = this.SUBRULE(this.typeName);
    this.ACTION(() => {
      if (isNested(type)) this.refuse("array type", start);
      if (isCatalogType(type)) this.fail(`found ${quote(start.image)}, which is no type of columns`, start);
    });
    return type;
  });

  /** @throws DbError InvalidSyntax for an unknown type, Unsupported for one that is not served */
  protected resolveType(name: string, args: readonly number[], unsigned: boolean, token: IToken): DataType {
    for (const arg of args) if (!Number.isSafeInteger(arg)) this.fail(`type ${name} takes whole numbers, not ${arg}`, token);
    const type = typeNamed(name, args, unsigned);
    if (!("problem" in type)) return type;
    if (type.problem === "unsupported") return this.refuse(type.why, token);
    return this.fail(type.why, token);
  }
}
