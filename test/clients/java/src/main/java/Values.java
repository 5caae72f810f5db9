import com.google.gson.Gson;
import com.google.gson.JsonParser;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** The table of values that every client writes and reads, and how a driver's value compares with its text. */
final class Values {
  record Failure(String sql, String sqlstate, int number) {
    String sqlState() {
      return sqlstate;
    }
  }

  record Stream(String sql, int rows, String sum) {}

  record Everything(List<Column> columns, List<Failure> errors, String slow, Stream stream) {}

  record Column(String name, String type, String kind, String only, int bits, List<String> values) {
    String text(int row) {
      return row < values.size() ? values.get(row) : null;
    }

    /** A value as Java has it. */
    Object value(int row) {
      var text = text(row);
      if (text == null) return null;
      return switch (kind) {
        case "bool" -> Boolean.valueOf(text);
        case "int" -> Long.valueOf(text);
        case "uint64" -> new BigDecimal(text);
        case "float32" -> Float.valueOf(text);
        case "float64" -> Double.valueOf(text);
        case "decimal" -> new BigDecimal(text);
        case "binary" -> HexFormat.of().parseHex(text);
        case "date" -> LocalDate.parse(text);
        case "timestamp" -> LocalDateTime.parse(text.replace(' ', 'T'));
        default -> text;
      };
    }

    /** @throws AssertionError unless the place holds the value of the row */
    void compare(ResultSet found, int place, int row) throws SQLException {
      var want = value(row);
      Object got = found.getObject(place);
      if (got == null || want == null) {
        if (got != want) fail(got, want);
        return;
      }
      var isSame = switch (kind) {
        case "bool" -> found.getBoolean(place) == (Boolean) want;
        case "int" -> found.getLong(place) == (Long) want;
        case "uint64", "decimal" -> found.getBigDecimal(place).compareTo((BigDecimal) want) == 0;
        case "float32" -> found.getFloat(place) == (Float) want;
        case "float64" -> want.equals(found.getDouble(place));
        case "binary" -> Arrays.equals(found.getBytes(place), (byte[]) want);
        case "date" -> want.equals(found.getObject(place, LocalDate.class));
        case "timestamp" -> want.equals(found.getObject(place, LocalDateTime.class));
        case "json" -> JsonParser.parseString(found.getString(place)).equals(JsonParser.parseString(text(row)));
        default -> want.equals(found.getString(place));
      };
      if (!isSame) fail(found.getString(place), text(row));
    }

    private void fail(Object got, Object want) {
      throw new AssertionError("column " + name + " (" + type + "): " + got + ", not " + want);
    }
  }

  private static Everything all;

  static void load(String path) throws Exception {
    all = new Gson().fromJson(Files.readString(Path.of(path), StandardCharsets.UTF_8), Everything.class);
  }

  static List<Column> of(String dialect) {
    return all.columns().stream().filter(each -> each.only() == null || each.only().equals(dialect)).toList();
  }

  static String names(List<Column> columns) {
    return columns.stream().map(Column::name).collect(Collectors.joining(", "));
  }

  static String createTable(String name, List<Column> columns) {
    var fields = columns.stream().map(each -> each.name() + " " + each.type()).collect(Collectors.joining(", "));
    return "CREATE TABLE " + name + " (id INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, " + fields + ")";
  }

  static List<Failure> errors() {
    return all.errors();
  }

  static String slow() {
    return all.slow();
  }

  static String streamSql() {
    return all.stream().sql();
  }

  static String streamSum() {
    return all.stream().sum();
  }
}
