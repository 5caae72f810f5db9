/** Parameters of Prometheus' API, from the URL and from a form: by name, those of the URL before those of the form. */
import { DbError } from "../../../../../base/error.ts";
import { StatusCode } from "../../../../../base/status-code.ts";
import { readRepeatedForm } from "../../../body/form.ts";
import type { Exchange } from "../../../exchange.ts";
import type { HttpServerOptions } from "../../../options.ts";
import { type RepeatedPairs, repeatedPairs } from "../../../query-string.ts";
import type { Reply } from "../../../reply.ts";
import { invalidParameter, MILLIS_MAX, MILLIS_MIN, momentOf } from "../../../../common/promql/moments.ts";

/** What a request says. An empty value is one that is not there. */
export class Parameters {
  private readonly url: ReadonlyMap<string, readonly string[]>;
  private readonly form: ReadonlyMap<string, readonly string[]>;

  constructor(url: ReadonlyMap<string, readonly string[]>, form: ReadonlyMap<string, readonly string[]>) {
    this.url = url;
    this.form = form;
  }

  /** All values of a name. */
  all(name: string): readonly string[] {
    return this.url.get(name) ?? this.form.get(name) ?? [];
  }

  /** The first value of a name. */
  one(name: string): string | undefined {
    const [value] = this.all(name);
    return value === "" ? undefined : value;
  }

  /** `start` and `end`, by default all times; no time lies between an end and a later start. @throws DbError InvalidArguments */
  range(): { readonly firstMillis: number; readonly lastMillis: number } {
    const [start, end] = [this.one("start"), this.one("end")];
    const firstMillis = start === undefined ? MILLIS_MIN : momentOf(start, "start");
    const lastMillis = end === undefined ? MILLIS_MAX : momentOf(end, "end");
    return { firstMillis, lastMillis };
  }

  /** `limit`; 0 = none. @throws DbError InvalidArguments */
  limit(): number {
    const text = this.one("limit");
    if (text === undefined) return 0;
    if (!/^[+-]?\d{1,15}$/.test(text)) throw invalidParameter("limit", "cannot parse it as a whole number");
    const limit = Number(text);
    if (limit < 0) throw invalidParameter("limit", "limit must be non-negative");
    return limit;
  }
}

/** Reads the parameters of these names, or gives the answer that refuses the form. @throws DbError InvalidArguments for too many */
export async function readParameters(
  exchange: Exchange,
  options: HttpServerOptions,
  names: ReadonlySet<string>,
): Promise<Parameters | Reply> {
  const url = checked(repeatedPairs(exchange.rawQuery, names));
  if (exchange.method !== "POST") return new Parameters(url, new Map());
  const form = await readRepeatedForm(exchange, options, names);
  return "status" in form ? form : new Parameters(url, checked(form));
}

function checked(pairs: RepeatedPairs): ReadonlyMap<string, readonly string[]> {
  if ("tooMany" in pairs) throw new DbError(StatusCode.InvalidArguments, `more than ${pairs.tooMany} parameters`);
  return pairs;
}
