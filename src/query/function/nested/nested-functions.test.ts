import { describe, expect, test } from "bun:test";
import { checkExpression as check, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();

async function typeIs(expression: string, want: string): Promise<void> {
  const { types } = await fixture.both(`SELECT ${expression}`);
  expect([expression, types[0]]).toEqual([expression, want]);
}

describe("lists", () => {
  test("are written in brackets, and their elements meet at one type", async () => {
    await check("[1, NULL, 3]", "[1,null,3]");
    await check("ARRAY[1, 2.5]", "[1.0,2.5]");
    await check("make_array('a', 1)", '["a","1"]');
    await check("[[1], [], NULL]", "[[1],[],null]");
    await typeIs("[1, 2]", "List<Int64>");
    await typeIs("[]", "List<Null>");
    await typeIs("[[1.5]]", "List<List<Float64>>");
    await typeIs("list_concat(NULL, [1::INT])", "List<Int32>");
    await fails("[1, x'00']", "No function matches make_array(Int64, Binary)");
  });

  test("have elements from 1, from the end from -1, and nothing elsewhere", async () => {
    await check("[10, 20, 30][1]", 10);
    await check("[10, 20, 30][-1]", 30);
    await check("[10][0]", undefined);
    await check("[10][2]", undefined);
    await check("[10][-2]", undefined);
    await check("[10][NULL]", undefined);
    await check("array_element([10, 20], 2)", 20);
    await check("[[1, 2]][1][2]", 2);
    await fails("'abc'[1]", "String is none of these");
    await fails("[1]['a']", "No function matches array_element(List<Int64>, String)");
  });

  test("are cut by positions, both included", async () => {
    await check("[1, 2, 3, 4][2:3]", "[2,3]");
    await check("[1, 2, 3, 4][:2]", "[1,2]");
    await check("[1, 2, 3, 4][3:]", "[3,4]");
    await check("[1, 2, 3, 4][0:9]", "[1,2,3,4]");
    await check("[1, 2, 3, 4][-3:-2]", "[2,3]");
    await check("[1, 2, 3, 4][1:4:2]", "[1,3]");
    await check("[1, 2, 3, 4][4:1:-3]", "[4,1]");
    await check("[1, 2][5:6]", "[]");
    await check("array_slice([1, 2, 3], 3, 1)", "[]");
    await check("array_slice(NULL, 1, 2)", undefined);
    await fails("array_slice([1], 1, 1, 0)", "stride: 0");
  });

  test("grow and shrink at their ends", async () => {
    await check("array_append([1], 2)", "[1,2]");
    await check("array_append(NULL, 2)", "[2]");
    await check("array_prepend(NULL, [1])", "[null,1]");
    await check("list_push_front(0, [1])", "[0,1]");
    await check("array_pop_back([1, 2])", "[1]");
    await check("array_pop_front([])", "[]");
    await check("array_resize([1], 3)", "[1,null,null]");
    await check("array_resize([1, 2, 3], 1, 9)", "[1]");
    await check("array_resize([1], NULL)", undefined);
    await check("array_repeat([1], 2)", "[[1],[1]]");
    await check("array_repeat('x', -1)", "[]");
    await fails("array_resize([1], -1)", "cannot be negative");
    await fails("array_repeat(1, 4000001)", "more than 4000000 elements");
  });

  test("are joined", async () => {
    await check("[1] || [2]", "[1,2]");
    await check("[1] || 2", "[1,2]");
    await check("0 || [1]", "[0,1]");
    await check("[[1]] || [2]", "[[1],[2]]");
    await check("array_concat([1], NULL, [2, 3])", "[1,2,3]");
    await check("array_concat(NULL, NULL)", undefined);
    await check("concat([1], ['a'])", '["1","a"]');
    await check("'a' || 'b'", "ab");
    await check("flatten([[1, 2], NULL, [3]])", "[1,2,3]");
    await check("flatten([1, 2])", "[1,2]");
  });

  test("are measured", async () => {
    await check("array_length([1, 2])", 2);
    await check("array_length([[1, 2], [3, 4]], 2)", 2);
    await check("array_length([1], 2)", undefined);
    await check("array_length([])", 0);
    await check("array_length(NULL)", undefined);
    await check("array_dims([[1, 2], [3, 4]])", "[2,2]");
    await check("array_ndims([[[]]])", 3);
    await check("cardinality([[1, 2], [3]])", 3);
    await check("empty([])", true);
    await check("list_empty([NULL])", false);
    await fails("array_length('a')", "No function matches array_length(String)");
    await fails("array_lenght([1])", "Did you mean 'array_length'?");
  });

  test("are sorted, turned round and searched for extremes", async () => {
    await check("array_sort([3, NULL, 1])", "[null,1,3]");
    await check("array_sort([3, NULL, 1], 'desc', 'nulls last')", "[3,1,null]");
    await check("array_sort([[2], [1, 5]])", "[[1,5],[2]]");
    await check("array_sort(['b', 'B', 'a'])", '["B","a","b"]');
    await check("array_reverse([1, NULL])", "[null,1]");
    await check("array_max([1, NULL, 9])", 9);
    await check("array_min([2.5, 1])", 1);
    await check("array_min([NULL])", undefined);
    await check("array_any_value([NULL, 2, 3])", 2);
    await check("array_distance([0, 0], [3, 4])", 5);
    await fails("array_distance([0], [3, 4])", "same length");
    await fails("array_sort([1], 'up')", "takes ASC or DESC");
  });

  test("find values; NULL is found as a place, and is in no list", async () => {
    await check("array_has([1, 2], 2)", true);
    await check("array_has([1, 2], NULL)", undefined);
    await check("array_has([1, NULL], 3)", false);
    await check("array_has([number], 0) FROM numbers LIMIT 1", true);
    await check("2 = ANY([1, 2])", true);
    await check("2 <> ALL([1, 2])", false);
    await check("array_has_all([1, 2, 3], [1, 3])", true);
    await check("array_has_any([1], [2])", false);
    await check("arrays_overlap(['a'], ['b', 'a'])", true);
    await check("array_position([1, 2, 1], 1)", 1);
    await check("array_position([1, 2, 1], 1, 2)", 3);
    await check("array_position([1, NULL], NULL)", 2);
    await check("array_position([1], 5)", undefined);
    await check("array_positions([1, 2, 1], 1)", "[1,3]");
    await fails("array_position([1], 1, 5)", "out of bounds");
    await fails("2 < ANY([1])", "only = ANY and <> ALL are");
    await fails("2 > ALL([1])", "only = ANY and <> ALL are");
  });

  test("lose and change elements", async () => {
    await check("array_remove([1, 2, 2], 2)", "[1,2]");
    await check("array_remove_n([2, 2, 2], 2, 2)", "[2]");
    await check("array_remove_all([1, NULL, 2], NULL)", undefined);
    await check("array_replace([1, 1], 1, 5)", "[5,1]");
    await check("array_replace_n([1, 1, 1], 1, 5, 2)", "[5,5,1]");
    await check("array_replace_all([1, NULL], NULL, 0)", "[1,0]");
  });

  test("are sets in the order of first appearance", async () => {
    await check("array_distinct([3, 1, 3, NULL, NULL])", "[3,1,null]");
    await check("array_union([2, 1], [1, 3])", "[2,1,3]");
    await check("array_union([1, 1], NULL)", undefined);
    await check("array_intersect([3, 2, 1], [1, 3])", "[3,1]");
    await check("array_except([1, 2, 2, 3], [2])", "[1,3]");
    await check("arrays_zip([1, 2], ['a'])", '[{"c0":1,"c1":"a"},{"c0":2,"c1":null}]');
    await check("arrays_zip(NULL, NULL)", undefined);
  });

  test("become texts, and texts lists", async () => {
    await check("array_to_string([1, NULL, 2.5], ',')", "1.0,2.5");
    await check("array_to_string([1, NULL], ',', '-')", "1,-");
    await check("array_join([[1, 2], [3]], '')", "123");
    await check("string_to_array('a,b,', ',')", '["a","b",""]');
    await check("string_to_array('aé', NULL)", '["a","é"]');
    await check("string_to_array('', ',')", '[""]');
    await check("string_to_array('a,b', '')", '["a,b"]');
    await check("string_to_array('a,b', ',', 'b')", '["a",null]');
    await check("CAST([1, NULL, 3] AS STRING)", "[1, , 3]");
    await check("CAST([x'00ff'] AS STRING)", "[00ff]");
    await check("CAST(named_struct('a', 1, 'b', ['x']) AS STRING)", "{a: 1, b: [x]}");
    await check("CAST(map('a', NULL) AS STRING)", "{a: }");
  });

  test("are cast element by element", async () => {
    await check("[1, 2]::TEXT[]", '["1","2"]');
    await check("CAST(['1', NULL] AS BIGINT[])", "[1,null]");
    await check("arrow_cast([1], 'List(Float64)')", "[1.0]");
    await check("1::BIGINT[]", "[1]");
    await check("arrow_typeof([1])", "List(Int64)");
    await check("arrow_typeof(map('a', 1))", 'Map("entries": non-null Struct("key": non-null Utf8, "value": Int64), unsorted)');
    await check("TRY_CAST(['x'] AS BIGINT[])", undefined);
    await fails("CAST(['x'] AS BIGINT[])", "Cannot cast string 'x'");
    await fails("CAST([1] AS BIGINT)", "cannot cast List<Int64> to Int64");
  });

  test("compare element by element", async () => {
    await check("[1, 2] = [1, 2]", true);
    await check("[1] = [1.0]", true);
    await check("[1, 2] < [1, 3]", true);
    await check("[2] > [1, 9]", true);
    await check("[1] < [1, 0]", true);
    await check("[1, 2] IN ([3], [1, 2])", true);
    await check("NULL = [1]", undefined);
    await check("[1] IS NOT DISTINCT FROM [1]", true);
    await fails("[1] = 1", "Cannot infer common argument type");
    await fails("[1] + 1", "Cannot coerce arithmetic expression");
  });

  test("are series", async () => {
    await check("generate_series(1, 3)", "[1,2,3]");
    await check("range(3)", "[0,1,2]");
    await check("range(3, 0, -2)", "[3,1]");
    await check("range(1, 0)", "[]");
    await check("range(9223372036854775806, 9223372036854775807)", "[9223372036854775806]");
    await check("generate_series(DATE '2024-01-31', DATE '2024-03-31', INTERVAL '1 month')", "[19753,19782,19811]");
    await check("range(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02', INTERVAL '12 hours')", "[1704067200000,1704110400000]");
    await check("range(NULL, 3)", undefined);
    await fails("range(1, 2, 0)", "step can't be 0");
    await fails("range(0, 5000000)", "more than 4000000 elements");
    await fails("range(DATE '2024-01-01', DATE '2024-02-01')", "No function matches range(Date, Date)");
  });
});

describe("structs and maps", () => {
  test("have fields by name", async () => {
    await check("struct(1, 'x')", '{"c0":1,"c1":"x"}');
    await check("named_struct('b', 1, 'a', NULL)", '{"a":null,"b":1}');
    await check("named_struct('a', 5)['a']", 5);
    await check("get_field(named_struct('a', named_struct('b', 7)), 'a', 'b')", 7);
    await check("s.a + s.b[1] FROM (SELECT named_struct('a', 1, 'b', [2]) AS s)", 3);
    await check("[named_struct('a', 9)][1].a", 9);
    await typeIs("named_struct('a', 1)", 'Struct<"a": Int64>');
    await fails("named_struct('a', 1)['b']", "there is no field 'b'");
    await fails("named_struct('usage', 1)['usag']", "Did you mean 'usage'?");
    await fails("named_struct('a')", "pairs of a name and a value");
    await fails("named_struct(lower('A') || number, 1) FROM numbers", "must be a constant text");
    await fails("get_field(1, 'a')", "takes a struct or a map, not Int64");
  });

  test("have values by key", async () => {
    await check("map(['a', 'b'], [1, NULL])", '{"a":1,"b":null}');
    await check("map('k', 1)['k']", 1);
    await check("make_map('a', 1, 'b', 2)['c']", undefined);
    await check("map_keys(map([1, 2], ['x', 'y']))", "[1,2]");
    await check("map_values(map([1, 2], ['x', 'y']))", '["x","y"]');
    await check("map_entries(map('a', 1))", '[{"key":"a","value":1}]');
    await check("element_at(map('a', 1), 'a')", "[1]");
    await check("map_extract(map('a', 1), 'z')", "[null]");
    await check("cardinality(map(['a', 'b'], [1, 2]))", 2);
    await typeIs("map('a', 1)", "Map<String, Int64>");
    await fails("map(['a', 'a'], [1, 2])", "duplicate key found: a");
    await fails("map([NULL], [1])", "map key cannot be null");
    await fails("map(['a'], [1, 2])", "same length");
    await fails("map_keys([1])", "No function matches map_keys(List<Int64>)");
  });
});

describe("other functions with lists", () => {
  test("give groups, keys, names and cells", async () => {
    await check("regexp_match('foobarbequebaz', '(bar)(beque)')", '["bar","beque"]');
    await check("regexp_match('abc', 'b')", '["b"]');
    await check("regexp_match('abc', '(x)?b')", "[null]");
    await check("regexp_match('abc', 'x')", undefined);
    await check('json_object_keys(\'{"b": 1, "a": {"c": 2}}\')', '["a","b"]');
    await check("json_object_keys('{\"a\": {\"c\": 2}}', 'a')", '["c"]');
    await check("json_object_keys('[1]')", undefined);
    await check("current_schemas(false)", '["public"]');
    await check("parse_ident('A.\"b c\"')", '["a","b c"]');
    await check("geohash_neighbours(0, 0, 1)", '["u","g","e","7","k","m","t","v"]');
    await check("h3_grid_disk(613196570438926335, 0)", "[613196570438926335]");
    await check("array_length(h3_grid_disk(613196570438926335, 2))", 19);
    await check("array_length(h3_cell_to_children(613196570438926335, 9))", 7);
    await check("h3_cells_contains([613196570438926335], 613196570438926335)", true);
    await fails("regexp_match('a', 'a', 'g')", '"global" option');
    await fails("geohash_neighbours(89.9, 0, 1)", "at a pole");
    await fails("h3_grid_disk(613196570438926335, -1)", "radius of 0 or more");
    await fails("h3_grid_disk(613196570438926335, 100000)", "more than 4000000 elements");
    await fails("h3_cell_to_children(577199624117288959, 15)", "more than 4000000 elements");
    await fails("parse_ident('a b')", "not a valid identifier");
  });
});

describe("aggregates", () => {
  test("collect values in their order, NULL too", async () => {
    await check("array_agg(x) FROM (VALUES (2), (NULL), (1)) AS t(x)", "[2,null,1]");
    await check("array_agg(x ORDER BY x DESC) FROM (VALUES (2), (NULL), (1)) AS t(x)", "[null,2,1]");
    await check("array_agg(DISTINCT x ORDER BY x) FROM (VALUES (2), (NULL), (2), (NULL), (1)) AS t(x)", "[1,2,null]");
    await check("array_agg(x) FILTER (WHERE x > 1) FROM (VALUES (2), (1)) AS t(x)", "[2]");
    await check("array_agg(x) FROM (SELECT 1 AS x WHERE false)", undefined);
    await check("array_agg([x]) FROM (VALUES (2), (1)) AS t(x)", "[[2],[1]]");
    await check("geo_path(1.5, x, x::TIMESTAMP) FROM (VALUES (2), (1)) AS t(x)", '{"lat":[1.5,1.5],"lng":[1.0,2.0]}');
    await fails("array_agg(1, 2)", "No function matches array_agg(Int64, Int64)");
  });

  test("take lists", async () => {
    const rows = "FROM (SELECT [1, 2] AS a UNION ALL SELECT [0] UNION ALL SELECT [1, 2]) AS t";
    await check(`max(a) ${rows}`, "[1,2]");
    await check(`min(a) ${rows}`, "[0]");
    await check(`count(DISTINCT a) ${rows}`, 2);
    await check(`first_value(a ORDER BY a) ${rows}`, "[0]");
    await fails(`sum(a) ${rows}`, "No function matches sum(List<Int64>)");
  });
});
