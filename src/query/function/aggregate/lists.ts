/** `array_agg(value)`: all values, NULLs included; `geo_path(latitude, longitude, time)`: places in the order of time. */
import { type DataType, FLOAT64 } from "../../../column/data-type.ts";
import { NESTED_PARTS_MAX } from "../../../base/limits.ts";
import { joinedLists, tooManyParts } from "../../../column/nested.ts";
import { listOf, nestedOf } from "../nested/parts.ts";
import { compareValues, type Present, type Value } from "../value/value.ts";
import { type AggregateFunction, owned, textBytes } from "./accumulator.ts";
import { pathType } from "./paths.ts";
import { SortedRuns } from "./sorted-runs.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";

/** About what a collected value costs in memory, bytes. */
const VALUE_BYTES = 48;
/** Values that are made a list while others are still to come: a list of a million would take 40 ms at the end. */
const VALUES_PER_LIST = 4096;
/** About what a place costs in memory, bytes. */
const PLACE_BYTES = 96;

/** The list of the first argument's type. */
export const listType: AggregateFunction["resolve"] = ([type, ...rest]) =>
  type !== undefined && rest.length === 0 ? { args: [type], result: listOf(type) } : undefined;

/** Every value in the order of the rows; NULL without rows. */
export const collected: AggregateFunction["create"] = ({ result }, reserve) => {
  const lists: Uint8Array[] = [];
  let values: Value[] = [];
  const encoded = (): Uint8Array => nestedOf(result, values) as Uint8Array; // what lists are
  const steps = function* (): Generator<void, Value> {
    if (lists.length === 0) return values.length === 0 ? undefined : encoded();
    if (lists.length * VALUES_PER_LIST + values.length > NESTED_PARTS_MAX) throw tooManyParts();
    const list = yield* joinedLists(values.length === 0 ? lists : [...lists, encoded()]);
    yield; // Whoever asked copies it.
    return list;
  };
  return {
    add([value]) {
      reserve(VALUE_BYTES + textBytes(value));
      values.push(owned(value));
      if (values.length < VALUES_PER_LIST) return;
      if ((lists.length + 1) * VALUES_PER_LIST > NESTED_PARTS_MAX) throw tooManyParts();
      lists.push(encoded());
      values = [];
    },
    result: () => atOnce(steps()),
    steps: () => (lists.length > 0 ? steps() : undefined),
  };
};

const PATH: DataType = {
  kind: "struct",
  fields: [
    { name: "lat", type: listOf(FLOAT64) },
    { name: "lng", type: listOf(FLOAT64) },
  ],
};

/** Two numbers and a time to a struct of two lists. */
export const geoPathType: AggregateFunction["resolve"] = (args) => {
  const type = pathType(args);
  return type && { ...type, result: PATH };
};

interface Place {
  readonly latitude: Value;
  readonly longitude: Value;
  readonly time: Present;
}

/** Rows with a NULL are left out; without any the lists are empty. */
export const geoPath: AggregateFunction["create"] = ({ result }, reserve) => {
  const places = new SortedRuns<Place>((a, b) => compareValues(a.time, b.time));
  const listOfAll = function* (sorted: readonly Place[], valueOf: (place: Place) => Value): Generator<void, Value> {
    const list = collected({ args: [FLOAT64], result: listOf(FLOAT64) }, () => undefined); // places are counted already
    for (let at = 0; at < sorted.length; at += VALUES_PER_LIST) {
      for (const place of sorted.slice(at, at + VALUES_PER_LIST)) list.add([valueOf(place)]);
      yield;
    }
    const rest = list.steps?.();
    return (rest === undefined ? list.result() : yield* rest) ?? nestedOf(listOf(FLOAT64), []);
  };
  const steps = function* (): Generator<void, Value> {
    const sorted = yield* places.steps();
    const latitudes = yield* listOfAll(sorted, (place) => place.latitude);
    const longitudes = yield* listOfAll(sorted, (place) => place.longitude);
    return nestedOf(result, [latitudes, longitudes]);
  };
  return {
    add([latitude, longitude, time]) {
      if (latitude === undefined || longitude === undefined || time === undefined) return;
      reserve(PLACE_BYTES);
      places.add({ latitude, longitude, time });
    },
    result: () => atOnce(steps()),
    steps: () => (places.areMany ? steps() : undefined),
  };
};
