/**
 * What stands between the operators of an expression: literals, names, calls, CASE, CAST and prefix operators.
 */
import type { IOrAlt, IToken } from "chevrotain";
import { STATEMENT_PARAMETERS_MAX } from "../../../../base/limits.ts";
import { type DataType, INTERVAL, sameType } from "../../../../column/data-type.ts";
import { JSON_DEPTH_MAX } from "../../../../value/json-text.ts";
import type { Expression, ObjectName, Query, Span } from "../../syntax/ast.ts";
import { BARE_CALLS } from "../../syntax/call-name.ts";
import { BaseRules, type Rule, spanOf } from "../base/base-rules.ts";
import { isIntervalUnit, parseInterval } from "../../../../value/interval/parse-interval.ts";
import { unescaped } from "../../tokens/escaped-text.ts";
import { nameOf, stringOf } from "../../tokens/lexer.ts";
import { isNumberedKind } from "../../../postgres-types.ts";
import { plainCall } from "./plain-call.ts";
import { Power } from "../../syntax/precedence.ts";
import { quote } from "../../tokens/syntax-error.ts";
import {
  AtAt,
  Comma,
  ConstantRows,
  DollarText,
  Dot,
  EscapedText,
  HexText,
  infixPowerOf,
  KEYWORDS,
  K,
  Label,
  LeftParen,
  Minus,
  Name,
  NumberText,
  Parameter,
  Prefix,
  QuotedName,
  RightParen,
  Star,
  StringText,
  Word,
} from "../../tokens/token.ts";
import { numberedKindOf, timestampLiteralType, typeNamed } from "../base/type-name.ts";

/** Letters that mark another kind of string before its quote: bits, and a national string, which is any string. */
const STRING_MARKS: ReadonlySet<string> = new Set(["b", "n"]);

/** Schemas that have functions of PostgreSQL. */
const FUNCTION_SCHEMAS: ReadonlySet<string> = new Set(["pg_catalog", "information_schema"]);

const NOT = K.NOT;

/** Longest bit string. Reason: it is read at once. */
const BITS_MAX = 1_048_576;
/** Longest text of an interval. Reason: it is read at once. */
const INTERVAL_CHARACTERS_MAX = 4096;

/** catalog.schema.table.column, then a path in a document. Reason: a path longer than documents nest finds nothing. */
const COLUMN_NAME_PARTS_MAX = 4 + JSON_DEPTH_MAX;

/** Operands: what stands between operators. */
export abstract class OperandRules extends BaseRules {
  /** The name that `.*` may follow: the first token of the select item being read. */
  protected starAfter: IToken | undefined;

  /** Whether `DEFAULT` may stand where an expression may. */
  protected defaultAllowed = false;

  /** An expression of operators that bind tighter than `above`. */
  protected abstract readonly expression: Rule<[above?: number], Expression>;

  protected abstract readonly query: Rule<[], Query>;

  protected abstract readonly specialLed: Rule<[], Expression>;

  protected abstract readonly listLiteral: Rule<[], Expression>;

  protected abstract readonly structLiteral: Rule<[], Expression>;

  /** The parenthesis and what follows it after a name. */
  protected abstract readonly callTail: Rule<[first?: IToken], Expression>;

  private operandAlternatives: IOrAlt<Expression>[] | undefined;

  /**
   * What stands between operators, prefix operators included. A list in parentheses, `(a, b)`, is a row: the struct of its values.
   *
   * Not a rule but a part of `expression`, since a rule costs about 0.15 µs a call; for the same reason its alternatives are built once.
   * Uses OR, SUBRULE9, SUBRULE8, MANY9, MANY7 and OPTION of that rule.
   */
  protected operand(): Expression {
    this.operandAlternatives ??= [
      // Before the names, which it is one of: the first alternative wins.
      { ALT: () => this.SUBRULE(this.specialLed), IGNORE_AMBIGUITIES: true },
      { ALT: () => this.nameLed() },
      { ALT: () => this.numberLiteral(this.CONSUME(NumberText)) },
      { ALT: () => this.stringLiteral(this.CONSUME(StringText)) },
      {
        GATE: () => this.beginsQuery(2),
        ALT: () => this.SUBRULE(this.subQuery),
        IGNORE_AMBIGUITIES: true,
      },
      { ALT: () => this.SUBRULE(this.existence) },
      {
        ALT: () => {
          const start = this.CONSUME(LeftParen);
          const parts = [this.SUBRULE9(this.expression)];
          this.MANY9(() => {
            this.CONSUME(Comma);
            parts.push(this.SUBRULE8(this.expression));
          });
          this.CONSUME(RightParen);
          const [only] = parts;
          let value = only !== undefined && parts.length === 1 ? only : this.ACTION(() => plainCall("struct", parts, start));
          // `(x).field` of a struct.
          this.MANY7(() => {
            this.CONSUME(Dot);
            const field = this.CONSUME(Label);
            const inner = value;
            value = this.ACTION(() =>
              plainCall("get_field", [inner, { kind: "string", value: nameOf(field), span: spanOf(field) }], start),
            );
          });
          return value;
        },
      },
      { ALT: () => this.SUBRULE(this.signed) },
      { ALT: () => this.SUBRULE(this.negation) },
      { ALT: () => ({ kind: "null", span: spanOf(this.CONSUME(K.NULL)) }) },
      { ALT: () => ({ kind: "boolean", value: true, span: spanOf(this.CONSUME(K.TRUE)) }) },
      { ALT: () => ({ kind: "boolean", value: false, span: spanOf(this.CONSUME(K.FALSE)) }) },
      { ALT: () => this.hexLiteral(this.CONSUME(HexText)) },
      { ALT: () => this.escapedLiteral(this.CONSUME(EscapedText)) },
      { ALT: () => this.dollarLiteral(this.CONSUME(DollarText)) },
      { ALT: () => this.SUBRULE(this.systemVariable) },
      { ALT: () => this.placeholder(this.CONSUME(Parameter)) },
      { ALT: () => this.SUBRULE(this.caseExpression) },
      { ALT: () => this.SUBRULE(this.listLiteral) },
      { ALT: () => this.SUBRULE(this.structLiteral) },
      { ALT: () => this.SUBRULE(this.castCall) },
      { ALT: () => this.defaultValue(this.CONSUME(K.DEFAULT)) },
    ];
    return this.OR({ DEF: this.operandAlternatives, ERR_MSG: "an expression" });
  }

  /** Whether the token that many ahead begins a query without a parenthesis. */
  protected beginsQuery(ahead: number): boolean {
    const { tokenType } = this.LA(ahead);
    if (tokenType !== K.VALUES) return tokenType === K.SELECT || tokenType === K.WITH;
    const { tokenType: next } = this.LA(ahead + 1);
    return next === LeftParen || next === ConstantRows;
  }

  /** `(SELECT …)` as a value. */
  private readonly subQuery: Rule<[], Expression> = this.rule("subQuery", () => {
    const start = this.CONSUME(LeftParen);
    const query = this.SUBRULE(this.query);
    this.CONSUME(RightParen);
    return { kind: "sub-query", query, span: spanOf(start) };
  });

  /** `EXISTS (SELECT …)`. */
  private readonly existence: Rule<[], Expression> = this.rule("existence", () => {
    const start = this.CONSUME(K.EXISTS);
    this.CONSUME(LeftParen);
    const query = this.SUBRULE(this.query);
    this.CONSUME(RightParen);
    return { kind: "exists", query, span: spanOf(start) };
  });

  private numberLiteral(token: IToken): Expression {
    return { kind: "number", text: token.image, span: spanOf(token) };
  }

  private stringLiteral(token: IToken): Expression {
    return { kind: "string", value: stringOf(token), span: spanOf(token) };
  }

  private hexLiteral(token: IToken): Expression {
    const digits = token.image.startsWith("0") ? token.image.slice(2) : token.image.slice(2, -1);
    const value = new Uint8Array(Buffer.from(digits, "hex")); // up to the first that is no digit
    this.ACTION(() => {
      if (2 * value.length === digits.length) return;
      const why = /^[0-9a-fA-F]*$/.test(digits) ? "an odd number of hex digits" : "characters that are no hex digits";
      this.fail(`${quote(token.image)} has ${why}`, token);
    });
    return { kind: "binary-literal", value, span: spanOf(token) };
  }

  private escapedLiteral(token: IToken): Expression {
    return this.ACTION((): Expression => {
      if (typeof token.payload === "string") return { kind: "string", value: token.payload, span: spanOf(token) };
      const value = unescaped(token.image);
      if ("problem" in value) return this.fail(value.problem, token);
      return { kind: "string", value: value.text, span: spanOf(token) };
    });
  }

  /** `$$a$$` or `$tag$a$tag$`. */
  private dollarLiteral(token: IToken): Expression {
    const mark = token.image.indexOf("$", 1) + 1;
    return { kind: "string", value: token.image.slice(mark, -mark), span: spanOf(token) };
  }

  /** `@@name`, `@@session.name`: a call of that name, with its marks, which no function has. */
  private readonly systemVariable: Rule<[], Expression> = this.rule("systemVariable", () => {
    const start = this.CONSUME(AtAt);
    const parts: IToken[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: Dot, DEF: () => parts.push(this.CONSUME(Label)), ERR_MSG: "the name of a system variable" });
    return this.ACTION(() => plainCall(`@@${parts.map(nameOf).join(".").toLowerCase()}`, [], start));
  });

  /** `?` or `$1`, the value of a prepared statement; a statement has one of the two forms. */
  private placeholder(token: IToken): Expression {
    return this.ACTION((): Expression => {
      const { marks } = this;
      const number = token.image === "?" ? ++marks.questionMarks : Number(token.image.slice(1));
      if (token.image !== "?") marks.numbered = true;
      if (marks.numbered && marks.questionMarks > 0) this.fail("a statement has parameters ? or $1, not both", token);
      if (!(number >= 1 && number <= STATEMENT_PARAMETERS_MAX))
        this.fail(`${quote(token.image)} is no parameter; write ?, or $1 to $${STATEMENT_PARAMETERS_MAX}`, token);
      marks.parameterCount = Math.max(marks.parameterCount, number);
      return { kind: "placeholder", index: number - 1, span: spanOf(token) };
    });
  }

  private defaultValue(token: IToken): Expression {
    this.ACTION(() => {
      if (!this.defaultAllowed) this.fail("DEFAULT can only be a value of INSERT or SET", token);
    });
    return { kind: "default", span: spanOf(token) };
  }

  private readonly signed: Rule<[], Expression> = this.rule("signed", () => {
    const sign = this.CONSUME(Prefix);
    const operand = this.SUBRULE(this.expression, { ARGS: [Power.sign] });
    const operator = sign.image === "-" ? "-" : sign.image === "+" ? "+" : "~";
    return { kind: "unary", operator, operand, span: spanOf(sign) };
  });

  private readonly negation: Rule<[], Expression> = this.rule("negation", () => {
    const token = this.CONSUME(NOT);
    const operand = this.SUBRULE(this.expression, { ARGS: [Power.not] });
    return { kind: "unary", operator: "not", operand, span: spanOf(token) };
  });

  private readonly caseExpression: Rule<[], Expression> = this.rule("caseExpression", () => {
    const start = this.CONSUME(K.CASE);
    const branches: { when: Expression; result: Expression }[] = [];
    const operand = this.OPTION(() => this.SUBRULE(this.expression));
    this.AT_LEAST_ONE(() => {
      this.CONSUME(K.WHEN);
      const when = this.SUBRULE2(this.expression);
      this.CONSUME(K.THEN);
      branches.push({ when, result: this.SUBRULE3(this.expression) });
    });
    const otherwise = this.OPTION2(() => {
      this.CONSUME(K.ELSE);
      return this.SUBRULE4(this.expression);
    });
    this.CONSUME(K.END);
    return { kind: "case", operand, branches, otherwise, span: spanOf(start) };
  });

  private readonly castCall: Rule<[], Expression> = this.rule("castCall", () => {
    const start = this.OR([{ ALT: () => this.CONSUME(K.CAST) }, { ALT: () => this.CONSUME(K.TRY_CAST) }]);
    this.CONSUME(LeftParen);
    const operand = this.SUBRULE(this.expression);
    this.CONSUME(K.AS);
    const type = this.SUBRULE(this.typeName);
    this.CONSUME(RightParen);
    return this.ACTION(() => this.cast(operand, type, start.tokenType === K.TRY_CAST, start, spanOf(start)));
  });

  /**
   * A cast; that of a text to INTERVAL is the interval itself, so that a bad one is found here. `'t'::regclass` is the number of a name,
   * `x::regclass::text` the name of a number.
   */
  protected cast(operand: Expression, type: DataType, safe: boolean, token: IToken, span: Span): Expression {
    const kind = numberedKindOf(type);
    if (kind !== undefined) return { ...plainCall(kind, [operand], token), span };
    const isNumber = operand.kind === "call" && operand.args.length === 1 && isNumberedKind(operand.name);
    if (isNumber && type.kind === "string") return { ...operand, name: `${operand.name}out`, args: [operand] };
    if (!safe && operand.kind === "string" && sameType(type, INTERVAL)) return this.interval(operand.value, token, span);
    return { kind: "cast", operand, type, safe, span };
  }

  private interval(text: string, token: IToken, span: Span = spanOf(token)): Expression {
    const value = text.length > INTERVAL_CHARACTERS_MAX ? undefined : parseInterval(text);
    if (value === undefined) return this.fail(`${quote(text)} is no interval; write for example '1 day 2 hours'`, token);
    return { kind: "interval", value, text: text.trim(), span };
  }

  /** What begins with a name: a column, a call, `DATE '…'`, `INTERVAL '…'`. A part of `operand`. */
  private nameLed(): Expression {
    const first = this.CONSUME(Name);
    // `INTERVAL -30 day` of MySQL; a column of that name less a number has no unit behind it.
    const minus = this.option(10, {
      GATE: () => first.tokenType === K.INTERVAL && this.LA(2).tokenType === NumberText && isIntervalUnit(this.LA(3).image),
      DEF: () => this.CONSUME(Minus),
    });
    const result = this.OPTION(() =>
      this.OR3([
        { ALT: () => this.SUBRULE(this.callTail, { ARGS: [first] }) },
        { ALT: () => this.SUBRULE(this.qualifiedColumn, { ARGS: [first] }) },
        { ALT: () => this.SUBRULE(this.typedString, { ARGS: [first] }) },
        { ALT: () => this.SUBRULE(this.numberInterval, { ARGS: [first, minus] }) },
      ]),
    );
    // `INTERVAL (1 + 1) DAY`, `INTERVAL ? DAY`, `INTERVAL DAYOFWEEK(d) - 1 DAY`.
    const amount = this.option(11, {
      GATE: () => first.tokenType === K.INTERVAL && result === undefined && this.amountFollows(),
      DEF: () => this.SUBRULE7(this.expression, { ARGS: [Power.none] }),
    });
    const unit = this.option(12, {
      GATE: () => first.tokenType === K.INTERVAL && (amount !== undefined || this.LA(0).tokenType === RightParen),
      DEF: () => this.CONSUME2(Name),
    });
    if (unit === undefined || this.RECORDING_PHASE) return result ?? this.bareName(first);
    return this.computedInterval(first, amount ?? this.onlyArgument(first, result), unit);
  }

  /** Whether what an interval counts begins here, and no alias of a column of that name. */
  private amountFollows(): boolean {
    const [{ tokenType }, { tokenType: next, tokenTypeIdx, image }] = [this.LA(1), this.LA(2)];
    return tokenType === Parameter || next === LeftParen || next === Dot || infixPowerOf(tokenTypeIdx) > 0 || isIntervalUnit(image);
  }

  /** What stood in the parentheses behind INTERVAL, which were read as those of a call. */
  private onlyArgument(first: IToken, call: Expression | undefined): Expression {
    const [amount, ...rest] = call?.kind === "call" ? call.args : [];
    return amount !== undefined && rest.length === 0 ? amount : this.fail("INTERVAL takes one amount and a unit", first);
  }

  private computedInterval(first: IToken, amount: Expression, unit: IToken): Expression {
    const name = nameOf(unit);
    if (!isIntervalUnit(name)) return this.fail(`${quote(name)} is no unit of an interval; write for example INTERVAL (n) DAY`, unit);
    return plainCall("interval_of", [amount, { kind: "string", value: name, span: spanOf(unit) }], first);
  }

  protected bareName(token: IToken): Expression {
    const name = nameOf(token);
    const span = spanOf(token);
    if (token.tokenType === Word && BARE_CALLS.has(name)) {
      return { kind: "call", name, args: [], star: false, distinct: false, orderBy: [], filter: undefined, span };
    }
    return { kind: "column", name: [name], quoted: token.tokenType === QuotedName, span };
  }

  /** The rest of `a.b`, of `pg_catalog.f(…)` or, as a select item, of `a.*`. */
  protected readonly qualifiedColumn: Rule<[first?: IToken], Expression> = this.rule("qualifiedColumn", (first) => {
    const parts: string[] = [];
    let last: IToken | undefined;
    this.AT_LEAST_ONE(() => {
      this.CONSUME(Dot);
      last = this.OR({ ERR_MSG: "a name", DEF: [{ ALT: () => this.CONSUME(Label) }, { ALT: () => this.CONSUME(Star) }] });
      parts.push(this.ACTION(() => (last === undefined ? "" : nameOf(last))));
    });
    const call = this.OPTION({
      // The functions of PostgreSQL are those of every schema.
      GATE: () => first !== undefined && parts.length === 1 && FUNCTION_SCHEMAS.has(nameOf(first)),
      DEF: () => this.SUBRULE(this.callTail, { ARGS: last === undefined ? [] : [last] }),
    });
    if (call !== undefined && !this.RECORDING_PHASE) return call;
    return this.ACTION(() => {
      const start = first ?? this.LA(0);
      const end = last ?? start;
      const name: ObjectName = [nameOf(start), ...parts];
      if (name.length > COLUMN_NAME_PARTS_MAX) this.fail(`the name ${quote(name.join("."))} has too many parts`, start);
      const column: Expression = { kind: "column", name, quoted: end.tokenType === QuotedName, span: spanOf(start) };
      if (end.tokenType === Star) {
        if (start !== this.starAfter || name.length !== 2) this.fail("found '*', expected a name", end);
        this.marks.qualifiedStar = column;
      }
      return column;
    });
  });

  /** `DATE '2024-01-01'`, `INTERVAL '1' day`. */
  private readonly typedString: Rule<[first?: IToken], Expression> = this.rule("typedString", (first) => {
    const token = this.CONSUME(StringText);
    const unit = this.OPTION({
      // `INTERVAL '1' day` has a unit; in `INTERVAL '1 day' day` the word is an alias.
      GATE: () => /^'\s*[+-]?[\d.]+\s*'$/.test(token.image) && isIntervalUnit(this.LA(1).image) && first?.tokenType === K.INTERVAL,
      DEF: () => this.CONSUME(Name),
    });
    return this.ACTION(() => {
      const start = first ?? token;
      const text = stringOf(token);
      if (start.tokenType === K.INTERVAL) {
        return this.interval(unit === undefined ? text : `${text.trim()} ${nameOf(unit)}`, start);
      }
      return this.typedLiteral(start, token, text);
    });
  });

  /** `B'0101'`: bytes, the last bit the lowest. */
  private bitLiteral(token: IToken, text: string): Expression {
    if (text.length > BITS_MAX) return this.fail(`a bit string has more than ${BITS_MAX} bits; write x'…'`, token);
    const value = new Uint8Array(Math.ceil(text.length / 8));
    let place = 8 * value.length - text.length;
    for (let i = 0, byte = 0; i < text.length; i++, place++) {
      const code = text.charCodeAt(i);
      if (code !== 48 && code !== 49) return this.fail(`${quote(token.image)} has characters that are no bits`, token);
      byte = ((byte << 1) | (code & 1)) & 255;
      if ((place & 7) === 7) value[place >> 3] = byte;
    }
    return { kind: "binary-literal", value, span: spanOf(token) };
  }

  private typedLiteral(start: IToken, token: IToken, text: string): Expression {
    const name = nameOf(start);
    if (STRING_MARKS.has(name)) return name === "b" ? this.bitLiteral(token, text) : this.stringLiteral(token);
    if (start.tokenType !== K.TIME && (start.tokenType !== Word || KEYWORDS.has(name))) {
      return this.fail(`found ${quote(token.image)}, expected an operator or the end of the expression`, token);
    }
    const known = typeNamed(name, [], false);
    if ("problem" in known && known.problem === "unknown") {
      return this.fail(`found ${quote(token.image)}, expected an operator or the end of the expression`, token);
    }
    const type = name === "timestamp" ? timestampLiteralType(text) : this.resolveType(name, [], false, start);
    return this.cast({ kind: "string", value: text, span: spanOf(token) }, type, false, start, spanOf(start));
  }

  /** `INTERVAL 5 minutes`. */
  private readonly numberInterval: Rule<[first?: IToken, minus?: IToken | undefined], Expression> = this.rule(
    "numberInterval",
    (first, minus) => {
      const amount = this.CONSUME(NumberText);
      const unit = this.CONSUME(Name);
      return this.ACTION(() => {
        const start = first ?? amount;
        if (start.tokenType !== K.INTERVAL) {
          return this.fail(`found ${quote(amount.image)}, expected an operator or the end of the expression`, amount);
        }
        return this.interval(`${minus === undefined ? "" : "-"}${amount.image} ${nameOf(unit)}`, start);
      });
    },
  );
}
