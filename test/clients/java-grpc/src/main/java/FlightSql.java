import java.sql.*;
import java.util.*;
import java.util.logging.*;

/** The JDBC driver of Arrow Flight SQL. Statements are closed: the driver reports memory of those that are not at `Connection.close`. */
final class FlightSql {
  private FlightSql() {}

  static String url(String port, String options) {
    return "jdbc:arrow-flight-sql://127.0.0.1:" + GrpcClients.ENV.get(port) + "/?" + options;
  }

  static List<String> read(ResultSet found) throws SQLException {
    try (found) {
      var rows = new ArrayList<String>();
      var columns = found.getMetaData().getColumnCount();
      while (found.next()) {
        var row = new StringJoiner("|");
        for (var i = 1; i <= columns; i++) row.add(String.valueOf(found.getObject(i)));
        rows.add(row.toString());
      }
      return rows;
    }
  }

  static List<String> ask(Connection client, String sql) throws SQLException {
    try (var statement = client.createStatement()) {
      return read(statement.executeQuery(sql));
    }
  }

  static void run(Connection client, String sql) throws SQLException {
    try (var statement = client.createStatement()) {
      statement.execute(sql);
    }
  }

  static void same(Object found, Object want) {
    GrpcClients.expect(String.valueOf(found).equals(String.valueOf(want)), found + " is not " + want);
  }

  static void checkAll() throws Exception {
    var open = url("VARVE_GRPC", "useEncryption=false");
    var account = "&user=" + GrpcClients.ENV.get("VARVE_USER") + "&password=";
    var password = GrpcClients.ENV.get("VARVE_PASSWORD").replace(" ", "%20");
    GrpcClients.check("JDBC Flight SQL: sign-in in clear and by TLS; a wrong password", () -> {
      var tls = "useEncryption=true&tlsRootCerts=" + GrpcClients.ENV.get("VARVE_CA");
      for (var way : List.of("useEncryption=false", tls)) {
        try (var client = DriverManager.getConnection(url("VARVE_GRPC_SECURE", way + account + password).replace("127.0.0.1", "localhost"))) {
          same(ask(client, "SELECT 'ä'"), "[ä]");
        }
      }
      var wrong = GrpcClients.refusal(() -> DriverManager.getConnection(url("VARVE_GRPC_SECURE", "useEncryption=false" + account + "wrong")));
      GrpcClients.expect(wrong.toLowerCase().contains("unauthenticated"), wrong);
    });
    var client = DriverManager.getConnection(open);
    statements(client);
    metadata(client);
    GrpcClients.check("JDBC Flight SQL: close, with no memory left behind", () -> {
      var leaks = new ArrayList<String>();
      var logger = Logger.getLogger("");
      var handler = new Handler() {
        public void publish(LogRecord each) {
          if (each.getLevel() == Level.SEVERE) leaks.add(String.valueOf(each.getMessage()));
        }

        public void flush() {}

        public void close() {}
      };
      logger.addHandler(handler);
      client.close();
      logger.removeHandler(handler);
      same(leaks, "[]");
    });
  }

  private static void statements(Connection client) {
    GrpcClients.check("JDBC Flight SQL: DDL, INSERT and values of every type", () -> {
      run(client, "DROP TABLE IF EXISTS jd");
      run(client, "CREATE TABLE jd (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE, n BIGINT, b BOOLEAN, d DATE, bin VARBINARY, de DECIMAL(10, 2))");
      try (var statement = client.createStatement()) {
        same(statement.executeUpdate("INSERT INTO jd VALUES (1000, 'a', 1.5, 7, true, '2026-01-02', X'00ff', 1.25)"), 1);
      }
      same(ask(client, "SELECT host, v, n, b, d, de FROM jd"), "[a|1.5|7|true|2026-01-02|1.25]");
      try (var statement = client.createStatement(); var found = statement.executeQuery("SELECT ts, bin FROM jd")) {
        GrpcClients.expect(found.next(), "no row");
        same(found.getTimestamp(1, Calendar.getInstance(TimeZone.getTimeZone("UTC"))).getTime(), 1000);
        same(Arrays.toString(found.getBytes(2)), "[0, -1]");
      }
    });
    GrpcClients.check("JDBC Flight SQL: prepared INSERT, NULL, batches", () -> {
      try (var insert = client.prepareStatement("INSERT INTO jd (ts, host, v) VALUES (?, ?, ?)")) {
        insert.setTimestamp(1, new Timestamp(2000));
        insert.setString(2, "b");
        insert.setNull(3, Types.DOUBLE);
        same(insert.executeUpdate(), 1);
        for (var i = 0; i < 1000; i++) {
          insert.setTimestamp(1, new Timestamp(3000 + i));
          insert.setString(2, "c");
          insert.setDouble(3, i);
          insert.addBatch();
        }
        insert.executeBatch();
      }
      same(ask(client, "SELECT host, count(*), count(v) FROM jd GROUP BY host ORDER BY host"), "[a|1|1, b|1|0, c|1000|1000]");
    });
    GrpcClients.check("JDBC Flight SQL: a batch of 10,000 rows, and of deletes", () -> {
      run(client, "DROP TABLE IF EXISTS jd_many");
      run(client, "CREATE TABLE jd_many (ts TIMESTAMP(3) TIME INDEX, host STRING PRIMARY KEY, v DOUBLE)");
      try (var insert = client.prepareStatement("INSERT INTO jd_many VALUES (?, ?, ?)")) {
        for (var i = 0; i < 10_000; i++) {
          insert.setTimestamp(1, new Timestamp(i));
          insert.setString(2, "host " + i % 100);
          if (i % 10 == 3) insert.setNull(3, Types.DOUBLE);
          else insert.setDouble(3, i / 2.0);
          insert.addBatch();
        }
        var begun = System.nanoTime();
        insert.executeBatch();
        System.out.println("# JDBC batch: " + Math.round(10_000 / ((System.nanoTime() - begun) / 1e9)) + " rows/s");
      }
      same(ask(client, "SELECT count(*), count(v), count(DISTINCT host), max(v) FROM jd_many"), "[10000|9000|100|4999.5]");
      try (var delete = client.prepareStatement("DELETE FROM jd_many WHERE ts = ? AND host = ?")) {
        for (var i = 0; i < 50; i++) {
          delete.setTimestamp(1, new Timestamp(i));
          delete.setString(2, "host " + i % 100);
          delete.addBatch();
        }
        delete.executeBatch();
      }
      same(ask(client, "SELECT count(*) FROM jd_many"), "[9950]");
    });
    GrpcClients.check("JDBC Flight SQL: prepared queries run again with other values", () -> {
      try (var query = client.prepareStatement("SELECT host, v FROM jd WHERE host = ? AND v >= ? ORDER BY ts")) {
        query.setString(1, "c");
        query.setDouble(2, 998);
        same(read(query.executeQuery()), "[c|998.0, c|999.0]");
        query.setString(1, "a");
        query.setDouble(2, 0);
        same(read(query.executeQuery()), "[a|1.5]");
      }
    });
    GrpcClients.check("JDBC Flight SQL: a long answer, errors, time limits", () -> {
      try (var statement = client.createStatement()) {
        statement.setQueryTimeout(60);
        same(read(statement.executeQuery("SELECT a.number FROM numbers a, numbers b")).size(), 10_000);
      }
      for (var sql : List.of("SELECT * FROM nope", "SELEC 1")) {
        var why = GrpcClients.refusal(() -> ask(client, sql));
        GrpcClients.expect(why.contains(sql.contains("nope") ? "nope" : "SELEC"), why);
      }
      same(ask(client, "SELECT 1"), "[1]");
    });
    GrpcClients.check("JDBC Flight SQL: SHOW, EXPLAIN ANALYZE, ADMIN", () -> {
      GrpcClients.expect(ask(client, "SHOW TABLES").contains("jd"), "jd is not shown");
      run(client, "EXPLAIN ANALYZE SELECT 1");
      run(client, "ADMIN flush_table('jd')");
    });
  }

  private static void metadata(Connection client) throws SQLException {
    var data = client.getMetaData();
    GrpcClients.check("JDBC Flight SQL: catalogs, schemas, tables, columns, keys, types", () -> {
      same(read(data.getCatalogs()), "[greptime]");
      GrpcClients.expect(read(data.getSchemas()).contains("public|greptime"), "public");
      same(read(data.getTables("greptime", "public", "j_", new String[] {"TABLE"})).size(), 1);
      var names = new ArrayList<String>();
      try (var found = data.getColumns(null, "public", "jd", "%")) {
        while (found.next()) names.add(found.getString("COLUMN_NAME") + " " + found.getInt("DATA_TYPE"));
      }
      same(names.subList(0, 3), "[ts 93, host 12, v 8]");
      GrpcClients.expect(!read(data.getPrimaryKeys(null, "public", "jd")).isEmpty(), "no key");
      same(read(data.getImportedKeys(null, "public", "jd")), "[]");
      // getTypeInfo is the driver's own, and empty: it does not ask the server.
      GrpcClients.expect(read(data.getTableTypes()).contains("TABLE"), "no table types");
    });
    GrpcClients.check("JDBC Flight SQL: every getter of the server", () -> {
      for (var getter : DatabaseMetaData.class.getMethods()) {
        if (getter.getParameterCount() == 0 && getter.getReturnType() != ResultSet.class) getter.invoke(data);
      }
    });
  }
}
