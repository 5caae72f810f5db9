import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

/** JDBC's drivers against Varve: PostgreSQL's, MySQL Connector/J, MariaDB Connector/J. Prints a line a check. */
public final class Clients {
  /** A driver: its addresses, its way of options, and what its errors say. */
  record Driver(String name, String dialect, String scheme, String port, String options, String fetch, String securePort, String secure) {
    String url(String more) {
      return scheme + "localhost:" + port + "/public?user=someone" + options + more;
    }
  }

  interface Work {
    void run() throws Exception;
  }

  static final Map<String, String> ENV = System.getenv();

  public static void main(String[] arguments) throws Exception {
    Values.load(ENV.get("VARVE_VALUES"));
    var pg = new Driver("pgjdbc", "postgres", "jdbc:postgresql://", ENV.get("VARVE_PG"), "&reWriteBatchedInserts=true", "1000", ENV.get("VARVE_PG_SECURE"),
        "&sslmode=verify-full&sslrootcert=" + ENV.get("VARVE_CA"));
    checkAll(pg, List.of("&preferQueryMode=simple", "&prepareThreshold=1&binaryTransfer=true", ""));
    var mysql = new Driver("Connector/J", "mysql", "jdbc:mysql://", ENV.get("VARVE_MYSQL"), "&rewriteBatchedStatements=true&sslMode=DISABLED&allowPublicKeyRetrieval=true",
        "", ENV.get("VARVE_MYSQL_SECURE"), "&sslMode=REQUIRED");
    checkAll(mysql, List.of("", "&useServerPrepStmts=true"));
    var mariadb = new Driver("MariaDB Connector/J", "mysql", "jdbc:mariadb://", ENV.get("VARVE_MYSQL"), "&allowPublicKeyRetrieval=true", "1000",
        ENV.get("VARVE_MYSQL_SECURE"), "&sslMode=verify-full&serverSslCert=" + ENV.get("VARVE_CA"));
    checkAll(mariadb, List.of("", "&useServerPrepStmts=true"));
    System.out.println("done");
  }

  static void check(String name, Work work) {
    try {
      work.run();
      System.out.println("ok " + name);
    } catch (Throwable thrown) {
      if (ENV.containsKey("VERBOSE")) thrown.printStackTrace();
      var said = String.valueOf(thrown).replaceAll("\\s+", " ");
      System.out.println("FAIL " + name + ": " + said.substring(0, Math.min(400, said.length())));
    }
  }

  static void expect(boolean holds, Object why) {
    if (!holds) throw new AssertionError(String.valueOf(why));
  }

  static void run(Connection client, String sql) throws SQLException {
    try (var statement = client.createStatement()) {
      statement.execute(sql);
    }
  }

  static Object ask(Connection client, String sql) throws SQLException {
    try (var statement = client.createStatement(); var found = statement.executeQuery(sql)) {
      expect(found.next(), "no row of " + sql);
      return found.getObject(1);
    }
  }

  static SQLException failure(Work work) throws Exception {
    try {
      work.run();
    } catch (SQLException error) {
      return error;
    }
    throw new AssertionError("no error");
  }

  static void checkAll(Driver driver, List<String> ways) throws Exception {
    var isPostgres = driver.dialect().equals("postgres");
    check(driver.name() + ": right password, in clear and by TLS; a wrong one; an unknown database", () -> {
      var base = driver.scheme() + "localhost:" + driver.securePort() + "/public?";
      for (var more : List.of(isPostgres ? "&sslmode=disable" : driver.options(), driver.secure())) {
        try (var client = DriverManager.getConnection(base + more, ENV.get("VARVE_USER"), ENV.get("VARVE_PASSWORD"))) {
          expect(ask(client, "SELECT 'ä'").equals("ä"), more);
        }
      }
      var wrong = failure(() -> DriverManager.getConnection(base + driver.secure(), ENV.get("VARVE_USER"), "wrong"));
      expect(isPostgres ? wrong.getSQLState().equals("28P01") : wrong.getErrorCode() == 1698, wrong);
      var unknown = failure(() -> DriverManager.getConnection(driver.url("").replace("/public", "/nowhere")));
      expect(isPostgres ? unknown.getSQLState().equals("3D000") : unknown.getErrorCode() == 1102, unknown);
    });
    for (var way : ways) check(driver.name() + ": every type both ways" + (way.isEmpty() ? "" : ", " + way.substring(1)), () -> types(driver, way));
    try (var client = DriverManager.getConnection(driver.url(""))) {
      statements(driver, client, isPostgres);
      metadata(driver, client);
    }
    check(driver.name() + ": a pool (HikariCP), queries at once", () -> pool(driver));
  }

  /** pgjdbc's simple mode writes `'…'::timestamp`, which is of milliseconds here: columns of finer times are left out of it. */
  static void types(Driver driver, String way) throws Exception {
    var columns = Values.of(driver.dialect()).stream().filter(each -> !way.contains("simple") || !List.of("t6", "t9").contains(each.name())).toList();
    var table = "java_" + driver.name().toLowerCase().replaceAll("\\W", "");
    try (var client = DriverManager.getConnection(driver.url(way))) {
      run(client, "DROP TABLE IF EXISTS " + table);
      run(client, Values.createTable(table, columns));
      try (var insert = client.prepareStatement("INSERT INTO " + table + " VALUES (?, ?" + ", ?".repeat(columns.size()) + ")")) {
        for (int row = 0; row < 4; row++) {
          insert.setInt(1, row);
          insert.setObject(2, LocalDateTime.of(2024, 1, 1, 0, 0, row));
          for (int i = 0; i < columns.size(); i++) {
            var value = columns.get(i).value(row);
            if (value == null) insert.setNull(i + 3, Types.NULL);
            else insert.setObject(i + 3, value);
          }
          if (row % 2 == 0) expect(insert.executeUpdate() == 1, "rows");
          else insert.addBatch();
        }
        expect(insert.executeBatch().length == 2, "batch");
      }
      var text = "SELECT " + Values.names(columns) + " FROM " + table + " ORDER BY id";
      try (var plain = client.createStatement(); var prepared = client.prepareStatement(text)) {
        for (int turn = 0; turn < 6; turn++) { // pgjdbc goes over to binary after some
          try (var found = turn == 0 ? plain.executeQuery(text) : prepared.executeQuery()) {
            for (int row = 0; row < 4; row++) {
              expect(found.next(), "a row is missing");
              for (int i = 0; i < columns.size(); i++) columns.get(i).compare(found, i + 1, row);
            }
            expect(!found.next(), "a row too many");
          }
        }
      }
      for (int row = 0; row < 3; row++) {
        for (var column : columns) {
          if (List.of("json", "float32").contains(column.kind())) continue;
          try (var where = client.prepareStatement("SELECT id FROM " + table + " WHERE " + column.name() + " = ? AND id = " + row)) {
            where.setObject(1, column.value(row));
            try (var found = where.executeQuery()) {
              expect(found.next() && found.getInt(1) == row, column.name() + " = " + column.value(row));
            }
          }
        }
      }
    }
  }

  static void statements(Driver driver, Connection client, boolean isPostgres) {
    var name = driver.name();
    check(name + ": errors carry their codes, and the connection lives on", () -> {
      for (var each : Values.errors()) {
        var error = failure(() -> run(client, each.sql()));
        expect(isPostgres ? error.getSQLState().equals(each.sqlState()) : error.getErrorCode() == each.number(), each.sql() + ": " + error);
      }
      expect(client.isValid(5), "not valid");
    });
    check(name + ": streams by fetch size", () -> {
      client.setAutoCommit(false);
      try (var statement = client.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
        statement.setFetchSize(driver.fetch().isEmpty() ? Integer.MIN_VALUE : Integer.parseInt(driver.fetch()));
        try (var found = statement.executeQuery(Values.streamSql())) {
          long sum = 0;
          while (found.next()) sum += found.getLong(1);
          expect(String.valueOf(sum).equals(Values.streamSum()), sum);
        }
        // One that is left in the middle.
        try (var found = statement.executeQuery(Values.streamSql())) {
          expect(found.next(), "no row");
        }
      }
      client.commit();
      client.setAutoCommit(true);
      expect(((Number) ask(client, "SELECT 3")).intValue() == 3, "3");
    });
    check(name + ": batches, rewritten", () -> {
      var table = "java_batch_" + name.toLowerCase().replaceAll("\\W", "");
      run(client, "CREATE TABLE IF NOT EXISTS " + table + " (h INT PRIMARY KEY, ts TIMESTAMP TIME INDEX, v DOUBLE, s STRING)");
      try (var insert = client.prepareStatement("INSERT INTO " + table + " (h, ts, v, s) VALUES (?, ?, ?, ?)")) {
        for (int i = 0; i < 2000; i++) {
          insert.setInt(1, i);
          insert.setTimestamp(2, Timestamp.from(Instant.EPOCH));
          insert.setDouble(3, i / 2.0);
          insert.setString(4, "it's \\ " + i);
          insert.addBatch();
        }
        expect(insert.executeBatch().length == 2000, "batch");
      }
      expect(((Number) ask(client, "SELECT count(*) FROM " + table + " WHERE s LIKE 'it''s %'")).longValue() == 2000, ask(client, "SELECT count(*) FROM " + table));
    });
    check(name + ": transactions pass", () -> {
      client.setAutoCommit(false);
      ask(client, "SELECT 1");
      client.commit();
      ask(client, "SELECT 1");
      client.rollback();
      client.setAutoCommit(true);
    });
    check(name + ": cancel and the query timeout end a query, the connection is usable", () -> {
      try (var statement = client.createStatement()) {
        new Thread(() -> {
          try {
            Thread.sleep(500);
            statement.cancel();
          } catch (Exception error) {
            System.err.println(error);
          }
        }).start();
        failure(() -> statement.executeQuery(Values.slow()));
      }
      try (var statement = client.createStatement()) {
        statement.setQueryTimeout(1);
        failure(() -> statement.executeQuery(Values.slow()));
      }
      expect(((Number) ask(client, "SELECT 3")).intValue() == 3, "3");
    });
    check(name + ": times", () -> {
      try (var statement = client.createStatement(); var found = statement.executeQuery("SELECT CAST('12:34:56' AS TIME) AS t, CAST('2024-01-01 00:00:00.123456' AS TIMESTAMP(6)) AS u")) {
        expect(found.next(), "no row");
        expect(found.getObject(1, LocalTime.class).equals(LocalTime.of(12, 34, 56)), found.getObject(1));
        expect(found.getObject(2, LocalDateTime.class).equals(LocalDateTime.of(2024, 1, 1, 0, 0, 0, 123456000)), found.getObject(2));
      }
    });
  }

  static void metadata(Driver driver, Connection client) {
    var isMysql = driver.dialect().equals("mysql");
    var table = "java_" + driver.name().toLowerCase().replaceAll("\\W", "");
    var catalog = isMysql ? "public" : null;
    var schema = isMysql ? null : "public";
    check(driver.name() + ": metadata, versions", () -> {
      var data = client.getMetaData();
      expect(data.getDatabaseMajorVersion() >= 8 && !data.getDatabaseProductName().isEmpty() && !data.getDatabaseProductVersion().isEmpty(), data.getDatabaseProductVersion());
    });
    check(driver.name() + ": metadata, getTables", () -> {
      try (var found = client.getMetaData().getTables(catalog, schema, table, new String[] {"TABLE"})) {
        expect(found.next() && found.getString("TABLE_NAME").equals(table), "not there");
      }
    });
    check(driver.name() + ": metadata, getColumns", () -> {
      var names = new ArrayList<String>();
      var types = new HashMap<String, Integer>();
      try (var found = client.getMetaData().getColumns(catalog, schema, table, "%")) {
        while (found.next()) {
          names.add(found.getString("COLUMN_NAME"));
          types.put(found.getString("COLUMN_NAME"), found.getInt("DATA_TYPE"));
        }
      }
      expect(names.size() == Values.of(driver.dialect()).size() + 2 && names.get(0).equals("id"), names);
      expect(types.get("i64") == Types.BIGINT && types.get("f64") == Types.DOUBLE && types.get("t6") == Types.TIMESTAMP, types);
    });
    check(driver.name() + ": metadata, getPrimaryKeys and getIndexInfo", () -> {
      var keys = new ArrayList<String>();
      try (var found = client.getMetaData().getPrimaryKeys(catalog, schema, table)) {
        while (found.next()) keys.add(found.getString("COLUMN_NAME"));
      }
      expect(keys.contains("id"), keys);
      client.getMetaData().getIndexInfo(catalog, schema, table, false, true).close();
    });
    check(driver.name() + ": metadata, getTypeInfo, getSchemas, getCatalogs", () -> {
      try (var found = client.getMetaData().getTypeInfo()) {
        expect(found.next(), "no types");
      }
      var schemas = new ArrayList<String>();
      try (var found = isMysql ? client.getMetaData().getCatalogs() : client.getMetaData().getSchemas()) {
        while (found.next()) schemas.add(found.getString(1));
      }
      expect(schemas.contains("public"), schemas);
    });
    check(driver.name() + ": metadata of a result and of parameters", () -> {
      try (var statement = client.prepareStatement("SELECT i64, n8 FROM " + table + " WHERE i32 = ?")) {
        var data = statement.getMetaData();
        if (data != null) expect(data.getColumnType(1) == Types.BIGINT && data.getColumnName(2).equals("n8"), data.getColumnTypeName(1));
        expect(statement.getParameterMetaData().getParameterCount() == 1, "count");
      }
    });
  }

  static void pool(Driver driver) throws Exception {
    var config = new com.zaxxer.hikari.HikariConfig();
    config.setJdbcUrl(driver.url(""));
    config.setMaximumPoolSize(8);
    try (var pool = new com.zaxxer.hikari.HikariDataSource(config)) {
      var threads = Executors.newFixedThreadPool(16);
      var answers = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 100; i++) {
        int number = i;
        answers.add(threads.submit(() -> {
          try (var client = pool.getConnection(); var statement = client.prepareStatement("SELECT CAST(? AS INT) * 2")) {
            statement.setInt(1, number);
            try (var found = statement.executeQuery()) {
              expect(found.next(), "no row");
              return found.getInt(1);
            }
          }
        }));
      }
      for (int i = 0; i < 100; i++) expect(answers.get(i).get() == i * 2, i);
      threads.shutdown();
    }
  }
}
