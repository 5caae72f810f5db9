import java.util.Map;

/** The JDBC driver of Arrow Flight SQL and the Java ingester against Varve. Prints a line a check. */
public final class GrpcClients {
  interface Work {
    void run() throws Exception;
  }

  static final Map<String, String> ENV = System.getenv();

  public static void main(String[] arguments) throws Exception {
    FlightSql.checkAll();
    Ingester.checkAll();
    System.out.println("done");
    // Threads of the ingester are no daemons.
    System.exit(0);
  }

  static void check(String name, Work work) {
    try {
      work.run();
      System.out.println("ok " + name);
    } catch (Throwable thrown) {
      if (ENV.containsKey("VERBOSE")) thrown.printStackTrace();
      var said = said(thrown);
      System.out.println("FAIL " + name + ": " + said.substring(0, Math.min(400, said.length())));
    }
  }

  static void expect(boolean holds, Object why) {
    if (!holds) throw new AssertionError(String.valueOf(why));
  }

  /** What a failure and its causes say, on one line. */
  static String said(Throwable thrown) {
    var text = new StringBuilder();
    for (var each = thrown; each != null; each = each.getCause()) text.append(each).append(" <- ");
    return text.toString().replaceAll("\\s+", " ");
  }

  /** What work that must fail says. */
  static String refusal(Work work) {
    try {
      work.run();
    } catch (Throwable thrown) {
      return said(thrown);
    }
    throw new AssertionError("no error");
  }
}
