/**
 * Stands in for mitata when benchmarks are smoke-run: every benchmark function is called once and named, nothing is measured.
 * Loaded with `bun --preload`, so that a benchmark file needs no branch of its own for it.
 */
import { plugin } from "bun";

/** What mitata hands to a benchmark that takes parameters. */
interface State {
  get(name: string): unknown;
}

/** One registered benchmark, with the parameter values it runs over. */
interface Registered {
  readonly name: string;
  readonly run: (...args: unknown[]) => unknown;
  readonly parameters: Map<string, unknown>;
}

const registered: Registered[] = [];

/** A fluent object: mitata's modifiers (`.gc()`, `.baseline()`, …) only change how it measures, so they do nothing here. */
function fluent(benchmark: Registered): unknown {
  const proxy: unknown = new Proxy(benchmark, {
    get: (_target, property) => {
      if (property === "then") return undefined; // not a promise
      return (...args: readonly unknown[]) => {
        const isParameter = ["args", "range", "dense_range", "range_multiplier"].includes(String(property));
        if (isParameter) setParameter(benchmark, String(property), args);
        return proxy;
      };
    },
  });
  return proxy;
}

/** Keeps the first value of a parameter: `args("x", [1, 2])`, `args({ x: [1, 2] })`, `args([1, 2])`, `range("x", 1, 1024)`. */
function setParameter(benchmark: Registered, modifier: string, args: readonly unknown[]): void {
  const [first, second] = args;
  if (modifier !== "args") benchmark.parameters.set(String(first), second);
  else if (Array.isArray(first)) benchmark.parameters.set("x", first[0]);
  else if (typeof first === "string") benchmark.parameters.set(first, Array.isArray(second) ? second[0] : second);
  else for (const [name, values] of Object.entries(first ?? {})) benchmark.parameters.set(name, Array.isArray(values) ? values[0] : values);
}

function bench(nameOrRun: string | Registered["run"], run?: Registered["run"]): unknown {
  const named = typeof nameOrRun === "string" ? { name: nameOrRun, run } : { name: nameOrRun.name, run: nameOrRun };
  if (named.run === undefined) throw new Error(`benchmark ${named.name} has no function`);
  const benchmark: Registered = { name: named.name, run: named.run, parameters: new Map() };
  registered.push(benchmark);
  return fluent(benchmark);
}

/** `group(name, body)` and the like: the body registers benchmarks. */
async function scope(...args: readonly unknown[]): Promise<void> {
  const body = args.at(-1);
  if (typeof body === "function") await body();
}

/** Calls what a benchmark measures, once; a generator yields it, alone or with functions that make its arguments. */
async function callOnce(benchmark: Registered): Promise<void> {
  const state: State = { get: (name) => benchmark.parameters.get(name) };
  const result = benchmark.run(state);
  if (!isIterator(result)) {
    await result;
    return;
  }
  for (let step = await result.next(); step.done !== true; step = await result.next()) {
    const measured = step.value;
    if (typeof measured === "function") await measured();
    else if (isParameterised(measured)) await measured.bench(...argumentsOf(measured));
  }
}

/** A yielded object with `bench` and numbered argument makers. */
interface Parameterised {
  readonly bench: (...args: unknown[]) => unknown;
  readonly [position: number]: () => unknown;
}

function argumentsOf(measured: Parameterised): unknown[] {
  const args: unknown[] = [];
  for (let make = measured[0]; make !== undefined; make = measured[args.length]) args.push(make());
  return args;
}

function isParameterised(value: unknown): value is Parameterised {
  return typeof value === "object" && value !== null && "bench" in value && typeof value.bench === "function";
}

function isIterator(value: unknown): value is Iterator<unknown> | AsyncIterator<unknown> {
  return typeof value === "object" && value !== null && "next" in value && typeof value.next === "function";
}

async function run(): Promise<{ readonly benchmarks: readonly never[] }> {
  for (const benchmark of registered.splice(0)) {
    await callOnce(benchmark);
    process.stdout.write(`${benchmark.name}: ran once\n`);
  }
  return { benchmarks: [] };
}

/** `measure(fn)` answers statistics; one call tells nothing, so each is NaN and cannot be taken for a figure. */
async function measure(body: () => unknown): Promise<Readonly<Record<string, number>>> {
  await body();
  const nothing = Number.NaN;
  return { min: nothing, max: nothing, avg: nothing, p25: nothing, p50: nothing, p75: nothing, p99: nothing, p999: nothing };
}

plugin({
  name: "mitata-once",
  setup(build) {
    build.module("mitata", () => ({
      loader: "object",
      exports: {
        bench,
        run,
        measure,
        group: scope,
        summary: scope,
        compact: scope,
        boxplot: scope,
        barplot: scope,
        lineplot: scope,
        do_not_optimize: () => undefined,
      },
    }));
  },
});
