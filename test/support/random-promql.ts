/**
 * Random PromQL trees as the parser makes them, always the same for a seed; their spans are all 0, and `takesEmpty` is not as it should
 * be. Operands that would bind otherwise stand in parentheses.
 */
import type {
  AggregateExpression,
  AtModifier,
  BinaryExpression,
  DurationExpression,
  DurationOperand,
  DurationValue,
  Expression,
  LabelMatcher,
  NumberLiteral,
  Span,
  SubqueryExpression,
  VectorMatching,
  VectorSelector,
} from "../../src/query/promql/syntax/ast.ts";
import { endsWithOpenOffset } from "../../src/query/promql/syntax/duration-printer.ts";
import { functionNamed } from "../../src/query/promql/syntax/function-table.ts";
import { AGGREGATORS, BINARY_OPERATORS, type Aggregator, type BinaryOperator } from "../../src/query/promql/syntax/operators.ts";

const SPAN: Span = { start: 0, end: 0 };
const NONE: DurationValue = { kind: "Milliseconds", millis: 0 };
const NAMES = ["up", "node_cpu_seconds_total", "job:rate:5m", "sum", "by", "offset", "start", "fill", "without"];
const LABELS = ["job", "le", "pod", "and", "bool", "a b", "température", "le.gende"];
const TEXTS = ["x", "", "prod-é", 'say "no"', "a\\b", "line\nbreak", "\u0000\u001f", "😀", "`", "\ufffd", "\udcff", "\u200b", "'"];
const PATTERNS = ["a|b", ".+", "10\\.0\\.0\\.1", "[a-z]+(x|y)?", "é"];
const MILLIS = [1, 1500, 60_000, 300_000, 5_400_000, 7_776_000_000, 1_209_600_000, 31_536_000_000, 90_061_001];
const NUMBERS = [0, -0, 1, -1, 0.5, 1e-9, 1e30, 123_456_789.25, Infinity, -Infinity, NaN];
const OPERATORS: readonly BinaryOperator[] = Object.keys(BINARY_OPERATORS).filter(
  (name): name is BinaryOperator => name in BINARY_OPERATORS,
);
const AGGREGATIONS: readonly Aggregator[] = Object.keys(AGGREGATORS).filter((name): name is Aggregator => name in AGGREGATORS);

/** Makes trees of one seed. */
export class RandomPromql {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A number below a bound. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  private of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  private chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  private some<T>(items: readonly T[], max: number): readonly T[] {
    return [...new Set(Array.from({ length: this.below(max + 1) }, () => this.of(items)))];
  }

  /** A tree of any type, so many levels high at most. */
  tree(levels: number): Expression {
    return this.of([() => this.vector(levels), () => this.vector(levels), () => this.scalar(levels), () => this.matrix(levels)])();
  }

  private number(value: number): NumberLiteral {
    return { kind: "NumberLiteral", value, isDuration: false, valueType: "scalar", span: SPAN };
  }

  private matcher(): LabelMatcher {
    const operator = this.of(["=", "!=", "=~", "!~"] as const);
    return { name: this.of(LABELS), operator, value: this.of(operator.endsWith("~") ? PATTERNS : TEXTS), takesEmpty: false };
  }

  private at(): AtModifier | undefined {
    if (this.chance(70)) return undefined;
    return this.of<AtModifier>([
      { kind: "time", millis: -1500 },
      { kind: "time", millis: 1_700_000_000_123 },
      { kind: "start" },
      { kind: "end" },
    ]);
  }

  selector(): VectorSelector {
    const name = this.chance(80) ? this.of(NAMES) : "";
    const matchers = Array.from({ length: this.below(4) }, () => this.matcher());
    matchers.push({ name: "__name__", operator: "=", value: name === "" ? "some.metric" : name, takesEmpty: false });
    const extension = this.below(6);
    return {
      kind: "VectorSelector",
      name,
      matchers,
      offset: this.offset(),
      at: this.at(),
      isAnchored: extension === 0,
      isSmoothed: extension === 1,
      valueType: "vector",
      span: SPAN,
    };
  }

  private vector(levels: number): Expression {
    if (levels <= 1) return this.selector();
    const below = levels - 1;
    return this.of<() => Expression>([
      () => this.selector(),
      () => this.aggregation(below),
      () => this.vectorCall(below),
      () => this.binary(below),
      () => this.binary(below),
      () => this.parenthesis(this.vector(below)),
      () => ({ kind: "UnaryExpression", operator: "-", expression: this.primary(below), valueType: "vector", span: SPAN }),
    ])();
  }

  /** What needs no parentheses anywhere. */
  private primary(levels: number): Expression {
    const node = this.vector(levels);
    return node.kind === "BinaryExpression" || node.kind === "UnaryExpression" ? this.parenthesis(node) : node;
  }

  private parenthesis(expression: Expression): Expression {
    return { kind: "ParenExpression", expression, valueType: expression.valueType, span: SPAN };
  }

  private scalar(levels: number): Expression {
    if (levels <= 1 || this.chance(50)) return this.number(this.of(NUMBERS));
    if (this.chance(50)) return this.call("scalar", [this.vector(levels - 1)]);
    return this.parenthesis({ kind: "NumberLiteral", value: 5400, isDuration: true, valueType: "scalar", span: SPAN });
  }

  private matrix(levels: number): Expression {
    if (levels <= 2 || this.chance(60)) {
      const selector = this.selector();
      return { kind: "MatrixSelector", selector, range: this.range(), valueType: "matrix", span: SPAN };
    }
    return this.subquery(levels - 1);
  }

  private subquery(levels: number): SubqueryExpression {
    const step = this.chance(50) ? this.range() : undefined;
    const expression = this.primary(levels);
    return {
      kind: "SubqueryExpression",
      expression,
      range: this.range(),
      step,
      offset: this.offset(),
      at: this.at(),
      valueType: "matrix",
      span: SPAN,
    };
  }

  private call(name: string, args: readonly Expression[]): Expression {
    const signature = functionNamed(name);
    if (signature === undefined) throw new Error(`there is no function ${name}`);
    return { kind: "Call", signature, args, valueType: signature.returnType, span: SPAN };
  }

  private text(): Expression {
    return { kind: "StringLiteral", value: this.of(TEXTS), valueType: "string", span: SPAN };
  }

  private vectorCall(levels: number): Expression {
    switch (this.below(5)) {
      case 0:
        return this.call("rate", [this.matrix(levels)]);
      case 1:
        return this.call("clamp", [this.vector(levels), this.scalar(levels), this.scalar(levels)]);
      case 2:
        return this.call("label_join", [
          this.vector(levels),
          this.text(),
          this.text(),
          ...Array.from({ length: this.below(3) }, () => this.text()),
        ]);
      case 3:
        return this.call("hour", this.chance(50) ? [] : [this.vector(levels)]);
      default:
        return this.call("quantile_over_time", [this.scalar(levels), this.matrix(levels)]);
    }
  }

  private aggregation(levels: number): AggregateExpression {
    const operator = this.of(AGGREGATIONS);
    const type = AGGREGATORS[operator];
    const parameter = type === undefined ? undefined : type === "string" ? this.text() : this.scalar(levels);
    const isWithout = this.chance(30);
    const grouping = this.some(LABELS, 3);
    return {
      kind: "AggregateExpression",
      operator,
      expression: this.vector(levels),
      parameter,
      grouping,
      isWithout,
      valueType: "vector",
      span: SPAN,
    };
  }

  private binary(levels: number): BinaryExpression {
    const operator = this.of(OPERATORS);
    const { family, precedence } = BINARY_OPERATORS[operator];
    const scalarSide = family === "set" ? 2 : this.below(6);
    const side = (isLeft: boolean): Expression => {
      const node = scalarSide === (isLeft ? 0 : 1) ? this.number(this.of([2, 0.25, 1e21])) : this.vector(levels);
      if (node.kind === "UnaryExpression" || (isLeft && endsWithOpenOffset(node))) return this.parenthesis(node);
      if (node.kind !== "BinaryExpression") return node;
      const inner = BINARY_OPERATORS[node.operator].precedence;
      const groups = isLeft !== (operator === "^");
      return inner > precedence || (inner === precedence && groups) ? node : this.parenthesis(node);
    };
    const left = side(true);
    const right = side(false);
    const areVectors = left.valueType === "vector" && right.valueType === "vector";
    const returnsBool = family === "comparison" && this.chance(30);
    const matching = areVectors ? this.matching(family === "set") : undefined;
    return { kind: "BinaryExpression", operator, left, right, returnsBool, matching, valueType: "vector", span: SPAN };
  }

  private matching(isSet: boolean): VectorMatching {
    const isOn = this.chance(40);
    const labels = this.chance(50) ? this.some(LABELS.slice(0, 4), 3) : [];
    const plain: VectorMatching = { cardinality: "one-to-one", labels, isOn, include: [], fillLeft: undefined, fillRight: undefined };
    if (isSet) return { ...plain, cardinality: "many-to-many" };
    const fill = (): number | undefined => (this.chance(15) ? this.of([0, -1.5, 1e7, 3e-7, Infinity]) : undefined);
    const filled = { ...plain, fillLeft: fill(), fillRight: fill() };
    if (this.chance(70)) return filled;
    return { ...filled, cardinality: this.of(["many-to-one", "one-to-many"] as const), include: this.some(LABELS.slice(4), 2) };
  }

  private range(): DurationValue {
    return this.chance(75) ? { kind: "Milliseconds", millis: this.of(MILLIS) } : this.duration(2, false);
  }

  private offset(): DurationValue {
    if (this.chance(60)) return NONE;
    if (this.chance(60)) return { kind: "Milliseconds", millis: this.of(MILLIS) * this.of([1, -1]) };
    const made = this.duration(2, true);
    return made.left === undefined || made.isWrapped || made.operator.endsWith("_of") ? made : { ...made, isWrapped: true };
  }

  private operand(levels: number): DurationOperand {
    if (levels <= 0 || this.chance(40))
      return { kind: "NumberLiteral", value: this.of([5, 0.5, 60]), isDuration: this.chance(50), valueType: "scalar", span: SPAN };
    const made = this.duration(levels, false);
    return made.isWrapped || made.right === undefined || made.operator.endsWith("_of") ? made : { ...made, isWrapped: true };
  }

  private duration(levels: number, isOffset: boolean): DurationExpression {
    const node = (
      operator: DurationExpression["operator"],
      left?: DurationOperand,
      right?: DurationOperand,
      isWrapped = false,
    ): DurationExpression => ({
      kind: "DurationExpression",
      operator,
      left,
      right,
      isWrapped,
      valueType: "scalar",
      span: SPAN,
    });
    const below = levels - 1;
    switch (this.below(5)) {
      case 0:
        return node(this.of(["step", "range"] as const));
      case 1:
        return node(this.of(["min_of", "max_of"] as const), this.operand(below), this.operand(below));
      case 2:
        return node("+", undefined, { kind: "NumberLiteral", value: 300, isDuration: true, valueType: "scalar", span: SPAN }, true);
      case 3:
        return node("-", undefined, node("step"));
      default:
        return node(this.of(["+", "-", "*", "/", "%", "^"] as const), this.operand(below), this.operand(below), isOffset);
    }
  }
}
