/**
 * Functions of each value for itself: mathematics and the calendar, one line each.
 */
import { civilFromDays, daysFromCivil, daysInMonth } from "../../../../value/civil.ts";
import type { Call } from "../../syntax/ast.ts";
import { dropHistograms, fillSteps, filterValues, mapValues, valueAt } from "../kernels/steps.ts";
import type { Scope, StepVectorMaker } from "../scope.ts";
import { overSteps } from "../turns.ts";

type OfValue = (value: number, ...parameters: number[]) => number;

/** What a part of a date costs, in samples of other loops. */
const DATE_COST = 8;
const PER_TURN = 180 / Math.PI;

/** By name; the scalar arguments follow the value. */
export const INSTANT_FUNCTIONS: ReadonlyMap<string, OfValue> = new Map<string, OfValue>([
  ["abs", Math.abs],
  ["acos", Math.acos],
  ["acosh", Math.acosh],
  ["asin", Math.asin],
  ["asinh", Math.asinh],
  ["atan", Math.atan],
  ["atanh", Math.atanh],
  ["ceil", Math.ceil],
  ["clamp", (value, low, high) => Math.max(low ?? value, Math.min(high ?? value, value))],
  ["clamp_max", (value, high) => Math.min(high ?? value, value)],
  ["clamp_min", (value, low) => Math.max(low ?? value, value)],
  ["cos", Math.cos],
  ["cosh", Math.cosh],
  ["deg", (value) => value * PER_TURN],
  ["exp", Math.exp],
  ["floor", Math.floor],
  ["ln", Math.log],
  ["log10", Math.log10],
  ["log2", Math.log2],
  ["rad", (value) => value / PER_TURN],
  ["round", (value, nearest = 1) => Math.floor(value * (1 / nearest) + 0.5) / (1 / nearest)],
  ["sgn", Math.sign],
  ["sin", Math.sin],
  ["sinh", Math.sinh],
  ["sqrt", Math.sqrt],
  ["tan", Math.tan],
  ["tanh", Math.tanh],
]);

const DAY_SECONDS = 86_400;

/** Of seconds since the epoch, in UTC. Without an argument it is the moment of the step. */
export const CALENDAR_FUNCTIONS: ReadonlyMap<string, (seconds: number) => number> = new Map([
  ["day_of_month", (seconds: number): number => civilOf(seconds).day],
  ["day_of_week", (seconds: number): number => (((dayOf(seconds) + 4) % 7) + 7) % 7],
  ["day_of_year", (seconds: number): number => dayOf(seconds) - daysFromCivil(civilOf(seconds).year, 1, 1) + 1],
  ["days_in_month", (seconds: number): number => daysInMonth(civilOf(seconds).year, civilOf(seconds).month)],
  ["hour", (seconds: number): number => Math.floor(secondOfDay(seconds) / 3600)],
  ["minute", (seconds: number): number => Math.floor((secondOfDay(seconds) % 3600) / 60)],
  ["month", (seconds: number): number => civilOf(seconds).month],
  ["year", (seconds: number): number => civilOf(seconds).year],
]);

function dayOf(seconds: number): number {
  return Math.floor(Math.trunc(seconds) / DAY_SECONDS);
}

function secondOfDay(seconds: number): number {
  return Math.trunc(seconds) - dayOf(seconds) * DAY_SECONDS;
}

function civilOf(seconds: number): ReturnType<typeof civilFromDays> {
  return civilFromDays(dayOf(seconds));
}

/** The series of a call. @throws DbError */
export async function* instantFunction(call: Call, ofValue: OfValue, scope: Scope): StepVectorMaker {
  const { query } = scope;
  const [argument, ...others] = call.args;
  if (argument === undefined) return;
  const parameters: Float64Array[] = [];
  for (const other of others) parameters.push(await query.scalar(other, scope));
  const [low, high] = parameters;
  for await (const some of query.vector(argument, scope)) {
    for (const series of some) {
      dropHistograms(series);
      const rest = overSteps(query, scope.moments.count, (from, to) => {
        if (low === undefined) mapValues(series, (value) => ofValue(value), from, to);
        else if (high === undefined) mapValues(series, (value, step) => ofValue(value, valueAt(low, step)), from, to);
        else {
          filterValues(series, (_value, step) => !(valueAt(low, step) > valueAt(high, step)), from, to);
          mapValues(series, (value, step) => ofValue(value, valueAt(low, step), valueAt(high, step)), from, to);
        }
      });
      if (rest !== undefined) await rest;
    }
    yield some.map((series) => ({ ...series, dropsName: true }));
  }
}

/** The series of a call. @throws DbError */
export async function* calendarFunction(call: Call, part: (seconds: number) => number, scope: Scope): StepVectorMaker {
  const [argument] = call.args;
  const { startMillis, stepMillis, count } = scope.moments;
  const checked = (seconds: number): number => (Number.isFinite(seconds) ? part(seconds) : Number.NaN);
  if (argument === undefined) {
    const values = new Float64Array(count);
    const ofStep = (step: number): number => part((startMillis + step * stepMillis) / 1000);
    await overSteps(scope.query, count, (from, to) => fillSteps(values, ofStep, from, to), DATE_COST);
    yield [{ labels: [], dropsName: false, values, present: new Uint8Array(count).fill(1), histograms: undefined }];
    return;
  }
  for await (const some of scope.query.vector(argument, scope)) {
    for (const series of some) {
      dropHistograms(series);
      const rest = overSteps(scope.query, count, (from, to) => mapValues(series, checked, from, to), DATE_COST);
      if (rest !== undefined) await rest;
    }
    yield some.map((series) => ({ ...series, dropsName: true }));
  }
}
