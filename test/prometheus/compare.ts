/** Answers of two servers of Prometheus' API, beside each other. */

/** An answer: its status and what its body says. */
export interface ApiAnswer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- what the other server sends
  readonly body: any;
}

/** Relative difference of values that agree: that of the compliance project. */
const TOLERANCE = 1e-5;
/** Below it are differences of equal numbers. */
const NOTHING = 1e-12;

const FORM = { "content-type": "application/x-www-form-urlencoded" };

/** Asks; parameters go into the URL, or into a form. A body that is no JSON is given as text. */
export async function ask(
  base: string,
  path: string,
  parameters: readonly (readonly [string, string])[],
  method: "GET" | "POST" = "GET",
): Promise<ApiAnswer> {
  const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
  const url = `${base}/api/v1/${path}`;
  const response = await (method === "GET" ? fetch(`${url}?${query}`) : fetch(url, { method: "POST", headers: FORM, body: query }));
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { status: response.status, body: text };
  }
}

/** How the answers to a query differ; undefined: they agree. @param isOrdered whether the order of the series counts */
export function difference(want: ApiAnswer, got: ApiAnswer, isOrdered: boolean): string | undefined {
  if (want.status !== got.status) return `status ${got.status}, not ${want.status}: ${told(got)} beside ${told(want)}`;
  if (want.body.status === "error") {
    return want.body.errorType === got.body.errorType ? undefined : `errorType ${got.body.errorType}, not ${want.body.errorType}`;
  }
  const [a, b] = [want.body.data, got.body.data];
  if (a.resultType !== b.resultType) return `a ${b.resultType}, not a ${a.resultType}`;
  if (a.resultType === "scalar" || a.resultType === "string") return pointsDiffer([a.result], [b.result]);
  const series = new Map<string, Point[]>(b.result.map((each: Series) => [keyOf(each.metric), pointsOf(each)]));
  if (series.size !== b.result.length) return "the same labels twice";
  const keys: string[] = a.result.map((each: Series) => keyOf(each.metric));
  const more = [...series.keys()].filter((key) => !keys.includes(key));
  if (more.length > 0) return `unexpected: ${more.slice(0, 3).join(" ")} (${more.length})`;
  for (const [index, key] of keys.entries()) {
    const points = series.get(key);
    const found = points === undefined ? "missing" : pointsDiffer(pointsOf(a.result[index]), points);
    if (found !== undefined) return `${key}: ${found}`;
  }
  return isOrdered ? orderDiffers(a.result, b.result) : undefined;
}

/** Series of one value may come in any order. */
function orderDiffers(want: readonly Series[], got: readonly Series[]): string | undefined {
  const values = got.map((each) => pointsOf(each)[0]?.[1] ?? "");
  const index = want.findIndex((each, i) => !isClose(pointsOf(each)[0]?.[1] ?? "", values[i] ?? ""));
  return index < 0 ? undefined : `the order is ${values.join(" ")}`;
}

/** Whether answers are the same to the last digit; the order of series does not count. */
export function isSameText(want: ApiAnswer, got: ApiAnswer): boolean {
  const textOf = ({ body }: ApiAnswer): string => {
    const { result } = body.data ?? {};
    if (!Array.isArray(result) || !result.every((each) => typeof each === "object")) return JSON.stringify(result);
    return JSON.stringify(result.map((each: Series) => [keyOf(each.metric), pointsOf(each)].join()).toSorted());
  };
  return want.body.status === got.body.status && textOf(want) === textOf(got);
}

type Point = readonly [time: number, value: string];

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

function pointsOf({ value, values }: Series): Point[] {
  return value === undefined ? [...(values ?? [])] : [value];
}

function keyOf(metric: Series["metric"]): string {
  return JSON.stringify(Object.entries(metric).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function pointsDiffer(want: readonly Point[], got: readonly Point[]): string | undefined {
  const values = new Map(got);
  for (const [time, value] of want) {
    const other = values.get(time);
    if (other === undefined) return `nothing at ${time}, not ${value}`;
    if (!isClose(value, other)) return `${other} at ${time}, not ${value}`;
  }
  if (want.length !== got.length) return `${got.length} points, not ${want.length}`;
  return undefined;
}

function isClose(want: string, got: string): boolean {
  if (want === got) return true;
  const [a, b] = [Number(want.replace("Inf", "Infinity")), Number(got.replace("Inf", "Infinity"))];
  if (Number.isNaN(a) || Number.isNaN(b) || !Number.isFinite(a) || !Number.isFinite(b)) return false;
  if (Math.max(Math.abs(a), Math.abs(b)) < NOTHING) return true;
  return Math.abs(a - b) <= TOLERANCE * Math.min(Math.abs(a), Math.abs(b));
}

function told({ body }: ApiAnswer): string {
  return JSON.stringify(body).slice(0, 200);
}
