/**
 * Random queries over the demo data, in the language of Prometheus 2.42, always the same for a seed. Ranges have half a second: with it
 * no step of a query in a query falls on the beginning of a range, where 2.42 takes a sample that later versions leave out.
 */
import { randomFrom } from "./demo-data.ts";

const GAUGES = [
  "demo_memory_usage_bytes",
  "demo_disk_usage_bytes",
  "demo_num_cpus",
  "demo_is_holiday",
  "demo_intermittent_metric",
  "demo_silent_metric",
] as const;
const COUNTERS = [
  "demo_cpu_usage_seconds_total",
  "demo_items_shipped_total",
  "demo_api_request_duration_seconds_count",
  "demo_api_request_duration_seconds_sum",
] as const;
const MATCHERS = [
  'instance=~".*[01]"',
  'instance!="demo.promlabs.com:10001"',
  'type=~"free|used"',
  'type!=""',
  'mode!~"idle|nosuch"',
  'path=""',
  'method="GET"',
  'nosuch!~".+"',
] as const;
const LABELS = ["instance", "job", "type", "mode", "method", "path", "nosuch"] as const;
const RANGES = ["30500ms", "1m500ms", "2m7s500ms", "5m500ms", "11m500ms"] as const;
const STEPS = ["5s", "10s", "17s", "1m"] as const;
const OFFSETS = ["30s", "1m", "-45s", "6m13s"] as const;
const OF_RANGE = [
  "sum_over_time",
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "count_over_time",
  "stddev_over_time",
  "stdvar_over_time",
  "last_over_time",
  "present_over_time",
  "absent_over_time",
  "changes",
  "resets",
  "deriv",
  "delta",
  "idelta",
] as const;
const OF_COUNTER = ["rate", "increase", "irate", "resets", "changes"] as const;
/** None that rounds, which makes a last digit the first one; none of dates, which of NaN are what Go's conversion happens to give. */
const OF_VECTOR = ["abs", "sqrt", "ln", "exp", "sgn", "absent", "timestamp", "sort", "cos"] as const;
const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "group", "stddev", "stdvar"] as const;
const NUMBERS = ["0", "1", "-2.5", "1e3", "0.001", "time()", "scalar(demo_num_cpus{instance=~'.*0'})", "NaN", "Inf"] as const;
/** Without the remainder: it makes a last digit the first one. */
const ARITHMETIC = ["+", "-", "*", "/", "^"] as const;
const COMPARISONS = ["==", "!=", "<", ">", "<=", ">="] as const;
const SETS = ["and", "or", "unless"] as const;

/** So many queries. */
export function randomQueries(count: number, seed: number): readonly string[] {
  const maker = new QueryMaker(randomFrom(seed));
  return Array.from({ length: count }, () => maker.vector(4));
}

class QueryMaker {
  private readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  /** A query whose answer is a vector, so many levels high at most. */
  vector(levels: number): string {
    if (levels <= 1) return this.selector(this.of([...GAUGES, ...COUNTERS]));
    const below = levels - 1;
    switch (Math.floor(this.random() * 10)) {
      case 0:
        return this.selector(this.of([...GAUGES, ...COUNTERS]));
      case 1:
        return `${this.of(OF_RANGE)}(${this.range(this.selector(this.of(GAUGES), false), below)})`;
      case 2:
        return `${this.of(OF_COUNTER)}(${this.selector(this.of(COUNTERS), false)}[${this.of(RANGES)}]${this.offset()})`;
      case 3:
        return `${this.of(OF_VECTOR)}(${this.vector(below)})`;
      case 4:
      case 5:
        return this.aggregation(below);
      case 6:
        return `(${this.vector(below)} ${this.operator()} ${this.of(NUMBERS)})`;
      case 7:
        return this.matched(below);
      case 8:
        return `quantile_over_time(${this.of(["0", "0.3", "0.99", "1"])}, ${this.range(this.selector(this.of(GAUGES), false), below)})`;
      default:
        return this.shaped(below);
    }
  }

  private of<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }

  private selector(metric: string, mayMove = true): string {
    const matchers = this.random() < 0.5 ? [] : [this.of(MATCHERS), this.of(MATCHERS)].slice(this.random() < 0.5 ? 1 : 0);
    const at = mayMove && this.random() < 0.1 ? this.of([" @ end()", " @ start()"]) : "";
    return `${metric}${matchers.length === 0 ? "" : `{${matchers.join(",")}}`}${mayMove ? this.offset() : ""}${at}`;
  }

  private offset(): string {
    return this.random() < 0.2 ? ` offset ${this.of(OFFSETS)}` : "";
  }

  private range(selector: string, levels: number): string {
    if (levels > 1 && this.random() < 0.4) return `(${this.vector(levels - 1)})[${this.of(RANGES)}:${this.of(STEPS)}]${this.offset()}`;
    return `${selector}[${this.of(RANGES)}]${this.offset()}`;
  }

  private labels(): string {
    return [...new Set([this.of(LABELS), this.of(LABELS)])].slice(this.random() < 0.3 ? 1 : 0).join(", ");
  }

  private aggregation(levels: number): string {
    const grouping = this.random() < 0.7 ? ` ${this.of(["by", "without"])} (${this.labels()})` : "";
    const inner = this.vector(levels);
    switch (Math.floor(this.random() * 5)) {
      case 0:
        return `quantile${grouping} (${this.of(["0.1", "0.5", "0.9"])}, ${inner})`;
      case 1:
        return `count_values${grouping} ("v", round(${inner}, 1000))`;
      default:
        return `${this.of(AGGREGATIONS)}${grouping} (${inner})`;
    }
  }

  private operator(): string {
    if (this.random() < 0.5) return this.of(ARITHMETIC);
    return `${this.of(COMPARISONS)}${this.random() < 0.5 ? " bool" : ""}`;
  }

  private matched(levels: number): string {
    const matching = this.random() < 0.6 ? ` ${this.of(["on", "ignoring"])} (${this.labels()})` : "";
    if (this.random() < 0.4) return `(${this.vector(levels)} ${this.of(SETS)}${matching} ${this.vector(levels)})`;
    const many = matching !== "" && this.random() < 0.5 ? ` ${this.of(["group_left", "group_right"])} ()` : "";
    return `(${this.vector(levels)} ${this.operator()}${matching}${many} ${this.vector(levels)})`;
  }

  private shaped(levels: number): string {
    switch (Math.floor(this.random() * 5)) {
      case 0:
        return `clamp(${this.vector(levels)}, -1, 1000)`;
      case 1:
        return `label_replace(${this.vector(levels)}, "${this.of(["port", "type"])}", "$1", "instance", ".*:(.*)")`;
      case 2:
        return `label_join(${this.vector(levels)}, "all", "-", "instance", "${this.of(LABELS)}")`;
      case 3: {
        const buckets = `rate(demo_api_request_duration_seconds_bucket[${this.of(RANGES)}])`;
        const summed = this.random() < 0.5 ? buckets : `sum by (le, ${this.of(LABELS)}) (${buckets})`;
        return `histogram_quantile(${this.of(["0.1", "0.5", "0.9", "0.99"])}, ${summed})`;
      }
      default:
        return `-${this.selector(this.of(GAUGES))}`;
    }
  }
}
