import { describe, test } from "bun:test";
import {
  checkAggregate,
  checkExpression as check,
  checkOverRows,
  failsExpression as fails,
} from "../../../../test/support/expression-check.ts";

describe("geohashes", () => {
  test("halve the earth", async () => {
    await check("geohash(57.64911, 10.40744, 11)", "u4pruydqqvj", "String");
    await check("geohash(-25.382708, -49.265506, 8)", "6gkzwgjz");
    await checkOverRows("geohash(v, 0, 1)", ["10.0", "NULL"], ["s", undefined]);
  });
  test("refuse places and resolutions that are none", async () => {
    await fails("geohash(1, 1, 13)", "3001 Execution error: Invalid geohash resolution 13, valid value range: [1, 12]");
    await fails("geohash(1, 1, -1)", "Cast error: Can't cast value -1 to type UInt8");
    await fails("geohash(91, 1, 1)", "there is no place at latitude 91, longitude 1");
    await fails("geohash('a', 1, 1)", "3000 Failed to plan SQL");
  });
});

describe("H3 cells", () => {
  test("are found from places", async () => {
    await check("h3_latlng_to_cell_string(37.775938728915946, -122.41795063018799, 9)", "8928308280fffff", "String");
    await check("h3_latlng_to_cell(37.775938728915946, -122.41795063018799, 9)", 0x8928308280fffffn, "UInt64");
    await check("h3_cell_to_string(h3_string_to_cell('8928308280fffff'))", "8928308280fffff", "String");
  });
  test("have properties", async () => {
    await check("h3_cell_resolution('8928308280fffff')", 9, "UInt8");
    await check("h3_cell_base('8928308280fffff')", 20, "UInt8");
    await check("h3_cell_is_pentagon('821c07fffffffff')", true, "Boolean");
    await check("h3_cell_to_string(h3_cell_parent('8928308280fffff', 8))", "8828308281fffff");
    await check("h3_cell_to_children_size('8928308280fffff', 11)", 49, "UInt64");
    const cell = "FROM (SELECT h3_string_to_cell('8928308280fffff') AS c)";
    await check(`h3_child_pos_to_cell(h3_cell_to_child_pos(c, 5), h3_cell_parent(c, 5), 9) = c ${cell}`, true);
    await check("h3_grid_distance('8928308280fffff', '8928308280fffff')", 0, "Int32");
    await check("round(h3_distance_sphere_km('86283082fffffff', '86283470fffffff'), 5)", 55.05017, "Float64");
    await check("h3_cells_contains('8828308281fffff, 821c07fffffffff', '8928308280fffff')", true, "Boolean");
    await check("h3_cells_contains('8928308280fffff', '8828308281fffff')", false);
  });
  test("refuse what is none", async () => {
    await fails("h3_latlng_to_cell(1, 1, 16)", "3001 Execution error: H3 error: invalid resolution (got Some(16)): out of range");
    await fails("h3_cell_resolution(7)", "H3 error: invalid cell index '7'");
    await fails("h3_child_pos_to_cell(0, 'zz', 8)", "3001 Execution error: H3 error: invalid cell index 'zz'");
    await fails("h3_string_to_cell('zz')", "H3 error: invalid cell index 'zz'");
    await fails("h3_cell_parent('8928308280fffff', 10)", "H3 error");
  });
});

describe("S2 cells", () => {
  test("are found from places", async () => {
    await check("s2_cell_to_token(s2_latlng_to_cell(0, 0))", "1000000000000001", "String");
    await check("s2_cell_level(s2_latlng_to_cell(-33.86, 151.2))", 30, "UInt64");
    await check("s2_cell_to_token(s2_cell_parent(s2_latlng_to_cell(-33.86, 151.2), 8))", "6b12b", "String");
    await check("s2_cell_to_token(s2_cell_parent(s2_latlng_to_cell(90, 0), 0))", "5");
    await check("s2_cell_to_token(s2_cell_parent(s2_latlng_to_cell(0, -90), 0))", "9");
  });
  test("refuse what is none", async () => {
    await fails("s2_cell_level(2)", "3001 Execution error: 2 is no S2 cell");
    await fails("s2_cell_parent(s2_cell_parent(s2_latlng_to_cell(0, 0), 3), 4)", "an S2 cell of level 3 has no parent of level 4");
  });
});

describe("well-known text", () => {
  const square = "'POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))'";
  test("has areas and distances", async () => {
    await check("wkt_point_from_latlng(1.5, -2)", "POINT(-2 1.5)", "String");
    await check(`st_area(${square})`, 15, "Float64");
    await check("st_area('POINT(1 2)')", 0);
    await check("st_distance('POINT(0 0)', 'POINT(3 4)')", 5, "Float64");
    await check(`st_distance('POINT(1.5 1.5)', ${square})`, 0.5);
    await check("st_distance('LINESTRING(0 0, 2 2)', 'LINESTRING(0 2, 2 0)')", 0);
    await check("st_distance('MULTIPOINT((9 9), (5 0))', 'MULTILINESTRING((0 1, 0 -1), (1 1, 1 -1))')", 4);
    await check("round(st_distance_sphere_m('POINT(0 0)', 'POINT(0 1)'))", 111195, "Float64");
    await check("st_area(NULL)", undefined);
  });
  test("contains, lies within and intersects", async () => {
    const contains = (inner: string): string => `st_contains(${square}, '${inner}')`;
    await check(contains("POINT(3 3)"), true, "Boolean");
    await check(contains("POINT(1.5 1.5)"), false);
    await check(contains("POINT(4 2)"), false);
    await check(contains("LINESTRING(3 1, 3 3)"), true);
    await check(contains("LINESTRING(0.5 1.5, 3 1.5)"), false);
    await check(contains("LINESTRING(0 0, 4 0)"), false);
    await check(contains("POLYGON((2.5 2.5, 4 2.5, 4 4, 2.5 2.5))"), true);
    await check(contains("POLYGON((0.5 0.5, 3 0.5, 3 3, 0.5 3, 0.5 0.5))"), false);
    await check(contains("POLYGON((3 3, 5 3, 5 5, 3 3))"), false);
    await check(`st_within('POINT(3 3)', ${square})`, true);
    await check(`st_intersects(${square}, 'POINT(4 2)')`, true);
    await check(`st_intersects(${square}, 'POLYGON((1.2 1.2, 1.8 1.2, 1.8 1.8, 1.2 1.2))')`, false);
    await check(`st_intersects('MULTIPOLYGON(((9 9, 10 9, 10 10, 9 9)), ((3 3, 6 3, 6 6, 3 3)))', ${square})`, true);
  });
  test("is refused where it is none", async () => {
    await fails("st_area('CIRCLE(1 2)')", "3001 Execution error: Fail to parse WKT 'CIRCLE(1 2)'");
    await fails("st_area('POLYGON((0 0, 1 1)')", "Fail to parse WKT");
    await fails("st_area('POINT(1)')", "a place is two numbers");
    await fails("st_area('LINESTRING(1 1)')", "it has 1 places; 2 are needed");
    await fails(`st_area('LINESTRING(${"1 1, ".repeat(5000)}1 1)')`, "it has more than 4096 places");
    await fails("st_distance_sphere_m('POINT(0 0)', 'LINESTRING(0 0, 1 1)')", "3001 Great circle distance between non-point objects");
  });
});

test("paths are places in the order of their times", async () => {
  const rows = ["1.5, 2.0, 30::TIMESTAMP(0)", "3.0, 4.0, 10::TIMESTAMP(0)", "5.0, NULL, 20::TIMESTAMP(0)"];
  await checkAggregate("json_encode_path(column1, column2, column3)", rows, "[[4,3],[2,1.5]]");
});
