import io.greptime.GreptimeDB;
import io.greptime.WriteOp;
import io.greptime.models.*;
import io.greptime.options.GreptimeOptions;
import io.greptime.rpc.*;
import java.io.File;
import java.sql.DriverManager;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The Java ingester, which sends rows: a request each, and in a stream. Its version on Maven Central has no bulk writer. */
final class Ingester {
  private static final int SECONDS_MAX = 30;

  private Ingester() {}

  /** A client of one of the servers, which is let go when its work is done. */
  interface Use {
    void with(GreptimeDB client) throws Exception;
  }

  static void using(String port, AuthInfo account, TlsOptions tls, Use work) throws Exception {
    var options = GreptimeOptions.newBuilder("localhost:" + GrpcClients.ENV.get(port), "public").authInfo(account).writeMaxRetries(0);
    if (tls != null) options.tlsOptions(tls);
    var client = GreptimeDB.create(options.build());
    try {
      work.with(client);
    } finally {
      client.shutdownGracefully();
    }
  }

  /** Rows of every type, at the milliseconds `[from, from + count)`. */
  static Table points(String name, int from, int count) {
    var schema = TableSchema.newBuilder(name)
        .addTag("host", DataType.String)
        .addTimestamp("ts", DataType.TimestampMillisecond)
        .addField("x", DataType.Float64)
        .addField("n", DataType.Int64)
        .addField("u", DataType.UInt32)
        .addField("ok", DataType.Bool)
        .addField("bytes", DataType.Binary)
        .build();
    var table = Table.from(schema);
    for (var i = from; i < from + count; i++) {
      table.addRow("h" + i % 10, (long) i, i % 7 == 0 ? null : i / 2.0, (long) -i, i, i % 2 == 0, new byte[] {0, (byte) i});
    }
    return table;
  }

  static Result<WriteOk, Err> write(GreptimeDB client, Table table, WriteOp op) throws Exception {
    return client.write(List.of(table), op, Context.newDefault()).get(SECONDS_MAX, TimeUnit.SECONDS);
  }

  static int written(GreptimeDB client, Table table, WriteOp op) throws Exception {
    var result = write(client, table, op);
    GrpcClients.expect(result.isOk(), result);
    return result.getOk().getSuccess();
  }

  static String ask(String sql) throws Exception {
    try (var client = DriverManager.getConnection(FlightSql.url("VARVE_GRPC", "useEncryption=false"))) {
      return FlightSql.ask(client, sql).toString();
    }
  }

  static void checkAll() {
    var nobody = AuthInfo.noAuthorization();
    GrpcClients.check("Java ingester: rows, NULL among them, and deletes", () -> using("VARVE_GRPC", nobody, null, client -> {
      FlightSql.same(written(client, points("java_rows", 0, 1000), WriteOp.Insert), 1000);
      FlightSql.same(ask("SELECT count(*), count(x), sum(n), max(u) FROM java_rows"), "[1000|857|-499500|999]");
      var schema = TableSchema.newBuilder("java_rows").addTag("host", DataType.String).addTimestamp("ts", DataType.TimestampMillisecond).build();
      var gone = Table.from(schema);
      for (var i = 0; i < 10; i++) gone.addRow("h" + i, (long) i);
      FlightSql.same(written(client, gone, WriteOp.Delete), 10);
      FlightSql.same(ask("SELECT count(*), min(u) FROM java_rows"), "[990|10]");
    }));
    GrpcClients.check("Java ingester: a stream", () -> using("VARVE_GRPC", nobody, null, client -> {
      var stream = client.streamWriter(1_000_000, Context.newDefault());
      for (var i = 0; i < 20; i++) stream.write(points("java_stream", 100 * i, 100));
      FlightSql.same(stream.completed().get(SECONDS_MAX, TimeUnit.SECONDS).getSuccess(), 2000);
      FlightSql.same(ask("SELECT count(*) FROM java_stream"), "[2000]");
    }));
    GrpcClients.check("Java ingester: a stream whose rows do not fit ends with why", () -> using("VARVE_GRPC", nobody, null, client -> {
      var schema = TableSchema.newBuilder("java_stream").addTimestamp("ts", DataType.TimestampMillisecond).addField("x", DataType.String).build();
      var wrong = Table.from(schema);
      wrong.addRow(1L, "no number");
      var why = GrpcClients.refusal(() -> client.streamWriter(1_000_000, Context.newDefault()).write(wrong).completed().get(SECONDS_MAX, TimeUnit.SECONDS));
      GrpcClients.expect(why.contains("INVALID_ARGUMENT"), why);
    }));
    GrpcClients.check("Java ingester: hints, health", () -> using("VARVE_GRPC", nobody, null, client -> {
      var never = Context.hint("auto_create_table", "false");
      var refused = client.write(List.of(points("java_never", 0, 1)), WriteOp.Insert, never);
      var why = GrpcClients.refusal(() -> refused.get(SECONDS_MAX, TimeUnit.SECONDS));
      GrpcClients.expect(why.contains("java_never"), why);
      var health = client.checkHealth().get(SECONDS_MAX, TimeUnit.SECONDS);
      GrpcClients.expect(health.size() == 1 && health.values().stream().allMatch(Boolean::booleanValue), health);
    }));
    var right = new AuthInfo(GrpcClients.ENV.get("VARVE_USER"), GrpcClients.ENV.get("VARVE_PASSWORD"));
    GrpcClients.check("Java ingester: sign-in, in clear and by TLS", () -> {
      var tls = new TlsOptions();
      tls.setRootCerts(new File(GrpcClients.ENV.get("VARVE_CA")));
      for (var way : new TlsOptions[] {null, tls}) {
        using("VARVE_GRPC_SECURE", right, way, client -> {
          FlightSql.same(written(client, points("java_guarded", 0, 1), WriteOp.Insert), 1);
          var stream = client.streamWriter(1_000_000, Context.newDefault()).write(points("java_guarded", 1, 5));
          FlightSql.same(stream.completed().get(SECONDS_MAX, TimeUnit.SECONDS).getSuccess(), 5);
        });
      }
    });
    GrpcClients.check("Java ingester: a wrong password, none", () -> {
      for (var account : new AuthInfo[] {new AuthInfo(GrpcClients.ENV.get("VARVE_USER"), "wrong"), nobody}) {
        using("VARVE_GRPC_SECURE", account, null, client -> {
          var why = GrpcClients.refusal(() -> write(client, points("java_guarded", 0, 1), WriteOp.Insert));
          GrpcClients.expect(why.contains("UNAUTHENTICATED"), why);
        });
      }
    });
  }
}
