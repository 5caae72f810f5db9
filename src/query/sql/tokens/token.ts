/**
 * The token types of SQL. Words are matched by one pattern and then looked up in `KEYWORDS`, so that a keyword costs a map lookup
 * instead of a pattern; the classes below say where a word may stand as a name without quotes.
 *
 *   Label ⊃ every word:         after AS, and after a dot
 *   Name  ⊃ unless reserved:    columns, tables, functions, types
 *   Alias ⊃ unless ambiguous:   an alias without AS (`count(*) over` is a window, not an alias)
 */
import { createToken, Lexer, type TokenType } from "chevrotain";
import type { BinaryOperator } from "../syntax/ast.ts";
import { CONNECTIVES, type Keyword, NOT_ALIAS, PLAIN, RESERVED } from "../syntax/keywords.ts";
import { OPERATOR_POWER, Power } from "../syntax/precedence.ts";

/** Any word or quoted name. */
export const Label: TokenType = createToken({ name: "Label", label: "a name", pattern: Lexer.NA });
/** A word that is not reserved, or a quoted name. */
export const Name: TokenType = createToken({ name: "Name", label: "a name", pattern: Lexer.NA, categories: Label });
/** A name that may follow an expression or table without AS. */
export const Alias: TokenType = createToken({ name: "Alias", label: "an alias", pattern: Lexer.NA, categories: Name });
/** A binary operator, AND and OR included. */
export const Infix: TokenType = createToken({ name: "Infix", label: "an operator", pattern: Lexer.NA });
/** An operator that may stand before its operand: `-`, `+`, `~`. */
export const Prefix: TokenType = createToken({ name: "Prefix", label: "a sign", pattern: Lexer.NA });

/** Letters of all scripts beyond ASCII, without the spaces of Unicode: what stands between brackets of a pattern. */
const LETTERS = "\\u00a1-\\u167f\\u1681-\\u1fff\\u2070-\\u2fff\\u3001-\\ufefe\\uff00-\\uffff";

/** An unquoted word that is no keyword. `@` and `#` only inside a word, so that `a @@ b` stays an operator. */
export const Word: TokenType = createToken({
  name: "Word",
  label: "a name",
  pattern: new RegExp(`[A-Za-z_${LETTERS}](?:[\\w$${LETTERS}]|[@#](?=\\w))*`),
  categories: Alias,
});
/** `"x"` or `` `x` ``; a doubled quote stands for one. */
export const QuotedName: TokenType = createToken({
  name: "QuotedName",
  label: "a name",
  pattern: /"[^"]*(?:""[^"]*)*"(?!")|`[^`]*(?:``[^`]*)*`(?!`)/,
  line_breaks: true,
  categories: Alias,
});
/** `'x'`; a doubled quote stands for one, a backslash is a backslash. */
export const StringText: TokenType = createToken({
  name: "StringText",
  label: "a string",
  pattern: /'[^']*(?:''[^']*)*'(?!')/,
  line_breaks: true,
});
/** `E'a\n'` and `U&'\0061'`: strings with escapes. */
export const EscapedText: TokenType = createToken({
  name: "EscapedText",
  label: "a string",
  pattern: /[eE]'(?:[^'\\]|\\[^]|'')*'(?!')|[uU]&'[^']*(?:''[^']*)*'(?!')/,
  line_breaks: true,
});
/** `$$a$$`, `$tag$a$tag$`: strings in which everything stands for itself. */
export const DollarText: TokenType = createToken({
  name: "DollarText",
  label: "a string",
  pattern: /\$([A-Za-z_]\w*|)\$[^]*?\$\1\$/,
  line_breaks: true,
  start_chars_hint: ["$"],
});
/** The PromQL of a TQL statement (`tql-text.ts`). */
export const PromqlText: TokenType = createToken({ name: "PromqlText", label: "a PromQL query", pattern: Lexer.NA });
/** Constants of an IN list (`constant-lists.ts`); the payload has their trees. */
export const Constants: TokenType = createToken({ name: "Constants", label: "constants", pattern: Lexer.NA });
/** Rows of constants behind VALUES (`row-lists.ts`); the payload has their blocks. */
export const ConstantRows: TokenType = createToken({ name: "ConstantRows", label: "rows of constants", pattern: Lexer.NA });
/** `1`, `1.5`, `.5`, `2e10`: no sign. */
export const NumberText: TokenType = createToken({
  name: "NumberText",
  label: "a number",
  pattern: /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]|\.\w)/,
});
/** `0x1F` or `X'1F'`. */
export const HexText: TokenType = createToken({ name: "HexText", label: "a hex literal", pattern: /0[xX][0-9a-fA-F]+(?!\w)|[xX]'[^']*'/ });
/** `1abc`, `1.5e+`: a token only so that the error can say what it is. */
export const BadNumber: TokenType = createToken({ name: "BadNumber", pattern: /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-])?[\w$]*/ });
/** A quote without its partner, or a comment without an end: all that follows. */
export const Unterminated: TokenType = createToken({
  name: "Unterminated",
  pattern: /(?:[eExX]|[uU]&)?'[^]*|["`][^]*|\/\*[^]*|\$(?:[A-Za-z_]\w*|)\$[^]*/,
  line_breaks: true,
});
/** `$1`, `$$` or `?`. */
export const Parameter: TokenType = createToken({ name: "Parameter", label: "a parameter", pattern: /\$\w*|\?/ });

const Space: TokenType = createToken({
  name: "Space",
  pattern: /[\s\u200b]+/,
  group: Lexer.SKIPPED,
  line_breaks: true,
});
const LineComment: TokenType = createToken({ name: "LineComment", pattern: /--[^\n\r]*/, group: Lexer.SKIPPED });
const BlockComment: TokenType = createToken({
  name: "BlockComment",
  pattern: /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//,
  group: Lexer.SKIPPED,
  line_breaks: true,
});

const punctuation = (name: string, text: string, categories: TokenType[] = []): TokenType =>
  createToken({ name, label: `'${text}'`, pattern: text, categories });

/** `(` */
export const LeftParen: TokenType = punctuation("LeftParen", "(");
/** `)` */
export const RightParen: TokenType = punctuation("RightParen", ")");
/** `[` */
export const LeftBracket: TokenType = punctuation("LeftBracket", "[");
/** `]` */
export const RightBracket: TokenType = punctuation("RightBracket", "]");
/** `{`: begins a struct */
export const LeftBrace: TokenType = punctuation("LeftBrace", "{");
/** `}` */
export const RightBrace: TokenType = punctuation("RightBrace", "}");
/** `,` */
export const Comma: TokenType = punctuation("Comma", ",");
/** `;` */
export const Semicolon: TokenType = punctuation("Semicolon", ";");
/** `.` */
export const Dot: TokenType = punctuation("Dot", ".");
/** `::`: a cast */
export const DoubleColon: TokenType = punctuation("DoubleColon", "::");
/** `:`: between the bounds of a slice */
export const Colon: TokenType = punctuation("Colon", ":");
/** `*`: product, `count(*)`, all columns */
export const Star: TokenType = punctuation("Star", "*", [Infix]);
/** `=` */
export const Equal: TokenType = punctuation("Equal", "=", [Infix]);
/** `>` */
export const Greater: TokenType = punctuation("Greater", ">", [Infix]);
/** `@@`: matches a term; before the name of a system variable */
export const AtAt: TokenType = punctuation("AtAt", "@@", [Infix]);

/** `-`: difference; before a number its sign */
export const Minus: TokenType = punctuation("Minus", "-", [Infix, Prefix]);

/** Operator tokens in the order in which the lexer tries them: longer ones before their beginnings. */
const OPERATORS: readonly (readonly [TokenType, BinaryOperator])[] = [
  [punctuation("NotMatchInsensitive", "!~*", [Infix]), "!~*"],
  [punctuation("NotMatch", "!~", [Infix]), "!~"],
  [punctuation("BangEqual", "!=", [Infix]), "<>"],
  [punctuation("MatchInsensitive", "~*", [Infix]), "~*"],
  [punctuation("Tilde", "~", [Infix, Prefix]), "~"],
  [punctuation("LessGreater", "<>", [Infix]), "<>"],
  [punctuation("Spaceship", "<=>", [Infix]), "is not distinct from"],
  [punctuation("LessEqual", "<=", [Infix]), "<="],
  [punctuation("LessAt", "<@", [Infix]), "<@"],
  [punctuation("AtGreater", "@>", [Infix]), "@>"],
  [punctuation("ShiftLeft", "<<", [Infix]), "<<"],
  [punctuation("Less", "<", [Infix]), "<"],
  [punctuation("GreaterEqual", ">=", [Infix]), ">="],
  [punctuation("ShiftRight", ">>", [Infix]), ">>"],
  [Greater, ">"],
  [punctuation("EqualEqual", "==", [Infix]), "="],
  [Equal, "="],
  [punctuation("Concat", "||", [Infix]), "||"],
  [punctuation("Bar", "|", [Infix]), "|"],
  [punctuation("Caret", "^", [Infix]), "^"],
  [punctuation("Hash", "#", [Infix]), "^"],
  [punctuation("Ampersand", "&", [Infix]), "&"],
  [AtAt, "@@"],
  [punctuation("Plus", "+", [Infix, Prefix]), "+"],
  [Minus, "-"],
  [Star, "*"],
  [punctuation("Slash", "/", [Infix]), "/"],
  [punctuation("Percent", "%", [Infix]), "%"],
];

/** Lower-case word → token type. */
export const KEYWORDS: ReadonlyMap<string, TokenType> = new Map(
  [
    ...RESERVED.map((word) => [word, [Label]] as const),
    ...NOT_ALIAS.map((word) => [word, [Name]] as const),
    ...PLAIN.map((word) => [word, [Alias]] as const),
    ...CONNECTIVES.map((word) => [word, [Label, Infix]] as const),
    ["DIV", [Name, Infix]] as const,
  ].map(([word, categories]) => [
    word.toLowerCase(),
    createToken({ name: word, label: word, pattern: Lexer.NA, categories: [...categories] }),
  ]),
);

/** The token type of each keyword, by its upper-case name. `Object.fromEntries` forgets the keys; the map has one entry a Keyword. */
export const K: Readonly<Record<Keyword, TokenType>> = Object.fromEntries(
  [...KEYWORDS].map(([word, type]) => [word.toUpperCase(), type]),
) as Record<Keyword, TokenType>;

/** What the lexer tries, in order. */
export const PATTERNS: readonly TokenType[] = [
  Space,
  LineComment,
  BlockComment,
  HexText,
  EscapedText,
  StringText,
  QuotedName,
  DollarText,
  Unterminated, // A literal that is cut off is one token, never a word and more.
  Word,
  NumberText,
  BadNumber,
  Comma,
  LeftParen,
  RightParen,
  Dot,
  Semicolon,
  DoubleColon,
  Colon,
  Parameter,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  ...OPERATORS.map(([type]) => type),
];

/** What the parser knows: patterns, keywords and classes. */
export const VOCABULARY: TokenType[] = [
  ...PATTERNS,
  PromqlText,
  Constants,
  ConstantRows,
  ...KEYWORDS.values(),
  Label,
  Name,
  Alias,
  Infix,
  Prefix,
];

const operators = new Map<TokenType, BinaryOperator>([...OPERATORS, [K.AND, "and"], [K.OR, "or"], [K.DIV, "div"]]);
const powers: number[] = [];
for (const [type, operator] of operators) powers[type.tokenTypeIdx ?? 0] = OPERATOR_POWER[operator];
powers[DoubleColon.tokenTypeIdx ?? 0] = Power.cast;
powers[LeftBracket.tokenTypeIdx ?? 0] = Power.primary;
powers[LeftBrace.tokenTypeIdx ?? 0] = Power.primary;
powers[K.IS.tokenTypeIdx ?? 0] = Power.is;
for (const word of ["BETWEEN", "IN", "LIKE", "ILIKE", "SIMILAR", "REGEXP", "RLIKE"] as const)
  powers[K[word].tokenTypeIdx ?? 0] = Power.predicate;
powers[K.AT.tokenTypeIdx ?? 0] = Power.zone;
powers[K.COLLATE.tokenTypeIdx ?? 0] = Power.cast;

/** The operator that an `Infix` token stands for; undefined for other tokens. */
export function operatorOf(type: TokenType): BinaryOperator | undefined {
  return operators.get(type);
}

/** Power of a token as the continuation of an expression; 0 where it cannot continue one. NOT is left to the caller. */
export function infixPowerOf(tokenTypeIdx: number): number {
  return powers[tokenTypeIdx] ?? Power.none;
}
